// Package wait implements the verb wait: it waits until Jobs have finished.
package wait
