// Package serving is what the controller serves over HTTP: metrics and its effective
// configuration, with TLS and the API server's word on who may read them, and health
// probes, in the clear.
package serving
