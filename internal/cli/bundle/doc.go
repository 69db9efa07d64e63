// Package bundle is the verb bundle, which keeps evidence about a Job in a file.
package bundle
