// Package podlogs prints the logs of the pods of Jobs, for the verbs that follow them.
package podlogs
