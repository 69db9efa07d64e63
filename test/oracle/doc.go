// Package oracle holds the controller against an independent model of what the API
// promises (package model): random Jobs, random pods, random users. Both sides play the
// same case to rest, the controller in the virtual cluster of package sim, and must come
// to the same end. What they may differ in has a name, and a place where it is documented
// (the table differences).
//
//	go test ./test/oracle                     half a minute
//	go test ./test/oracle -seeds 60000        a few minutes: every difference must be met
//	go test ./test/oracle -seed 4711 -v       one case, and both ends
package oracle
