// Package eta estimates the completion time of a Job from its past rate of successes.
package eta
