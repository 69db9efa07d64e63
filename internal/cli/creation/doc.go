// Package creation prepares the objects of manifests for the API server and creates them, for the verbs.
package creation
