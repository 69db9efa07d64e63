// Package wait is the verb wait: it waits until Jobs have finished.
package wait
