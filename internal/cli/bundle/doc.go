// Package bundle implements the verb bundle, which saves evidence about a Job in a file.
package bundle
