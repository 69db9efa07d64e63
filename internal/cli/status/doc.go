// Package status implements the verb status: it prints Jobs, and follows them.
package status
