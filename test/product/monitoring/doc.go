// Package monitoring has only tests: they compare the alerts and the dashboard in config/prometheus, and
// docs/monitoring.md, with the metrics that the controller serves, and run promtool's unit tests of the alerts (make
// test-monitoring).
package monitoring
