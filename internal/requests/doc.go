// Package requests limits how long requests of verbs wait for the API server, reports what they wait for, and recognizes
// errors of a proxy. It works on the transport, and so for every client. Watches and logs that are followed may be silent for
// long; package feed checks with a Pulse that the API server still answers them.
package requests
