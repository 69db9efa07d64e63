// Package logs is the verb logs: it prints the logs of the pods of a Job.
package logs
