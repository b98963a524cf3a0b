# SPDX-License-Identifier: GPL-2.0-only
# What Prometheus thinks of the alerts, and when they fire.

ok "prometheus: the alerts are rules" promtool check rules "$root/docs/prometheus/xpcache.rules.yml"
ok "prometheus: they fire when they should" promtool test rules "$root/tests/install/alerts.yml"
sed 's/> 0.5$/> 0.8/' "$root/docs/prometheus/xpcache.rules.yml" >other.yml
sed "s,^  - .*xpcache.rules.yml,  - $dir/other.yml," "$root/tests/install/alerts.yml" >alerts.yml
expects "prometheus: and one that does not is seen" 1 "XpcacheWritersSlowed" promtool test rules alerts.yml
