// Package job is the screen of one Job: a header, and the tabs Overview, Indexes (the map),
// Policies, Failures, Pods and Timeline. The explanation of a Job is a screen of its own.
package job
