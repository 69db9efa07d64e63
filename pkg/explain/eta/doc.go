// Package eta estimates when a Job will be complete, from how fast it has been.
package eta
