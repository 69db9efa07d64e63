// Package status is the verb status: it prints Jobs, and follows them.
package status
