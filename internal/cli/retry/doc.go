// Package retry implements the verb retry: it reruns what a finished Job did not complete.
package retry
