// Package lint implements the verb lint: it checks manifests without a cluster.
package lint
