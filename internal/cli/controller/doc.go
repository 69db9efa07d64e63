// Package controller implements the verb controller: it runs the external Job controller, and prints the manifests
// that install it.
package controller
