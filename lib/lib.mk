# SPDX-License-Identifier: GPL-2.0-only
# What the command line and the daemon share: lib/ with the core in user space, build/lib/lib.a.

LIB_SRC		:= $(wildcard lib/*.c lib/*/*.c)
LIB_OBJ		:= $(LIB_SRC:%.c=build/%.o) $(core-objects)

build/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

build/lib/lib.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

-include $(LIB_OBJ:.o=.d)
