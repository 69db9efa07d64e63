// Package serving implements the controller's HTTP servers: metrics and the effective configuration, with TLS and
// authorization by the API server, and health probes over plain HTTP.
package serving
