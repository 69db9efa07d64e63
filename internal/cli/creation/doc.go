// Package creation makes the objects of manifests what the API server gets, and creates them, for the verbs.
package creation
