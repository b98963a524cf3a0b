// SPDX-License-Identifier: GPL-2.0-only
/* bench_chance.c - Student's t: how far a mean of few observations may be off by chance alone. */
#include "tools/bench/bench_result.h"
#include "platform.h"

#include <math.h>

/* The part of all that lies within @t, for which @angle is atan(t / sqrt(dof)): Abramowitz and
 * Stegun, 26.7.3 and 26.7.4. */
static double within(double angle, u32 dof)
{
	double cosine = cos(angle), term = dof % 2 ? cosine : 1, sum = 0;

	for (u32 i = dof % 2 ? 3 : 2; i <= dof; i += 2) {
		sum += term;
		term *= cosine * cosine * (i - 1) / i;
	}
	return dof % 2 ? M_2_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

#define MANY	1000u	/* as good as normal from here on */

double bench_chance_t(u32 dof, double outside)
{
	double low = 0, high = M_PI_2;

	dof = min(dof, MANY);
	for (u32 i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (1 - within(middle, dof) > outside)
			low = middle;
		else
			high = middle;
	}
	return tan(low) * sqrt(dof);
}
