// Package view runs the interactive view on the Jobs of a cluster.
package view
