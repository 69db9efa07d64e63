// Package progress shows on stderr how far Jobs are, for the verbs that wait for them.
package progress
