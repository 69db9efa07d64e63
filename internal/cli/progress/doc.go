// Package progress shows the progress of Jobs on stderr, for the verbs that wait for them.
package progress
