// Package logs implements the verb logs: it prints the logs of the pods of Jobs.
package logs
