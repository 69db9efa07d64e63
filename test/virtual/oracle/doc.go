// Package oracle compares the controller with an independent model of what the API promises (package model), on random
// Jobs, pods and user actions. Both sides play the same case to rest, the controller in the virtual cluster of package
// sim, and must have the same outcome. Each permitted difference has a name and a place where it is documented (package
// differences).
//
//	go test ./test/virtual/oracle                     half a minute
//	go test ./test/virtual/oracle -seeds 60000        a few minutes: every difference must occur
//	go test ./test/virtual/oracle -seed 4711 -v       one case, and both outcomes
package oracle
