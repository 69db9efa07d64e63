// Package monitoring has tests only: they hold the alerts and the dashboard in
// config/prometheus, and docs/runbooks.md, against what the controller serves, and have
// promtool play the alerts through (make test-monitoring).
package monitoring
