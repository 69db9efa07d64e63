// Package logs is the verb logs: it prints the logs of the pods of Jobs.
package logs
