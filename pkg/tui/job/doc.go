// Package job implements the screen of one Job: a header, and the tabs Overview, Indexes (the map), Policies, Failures, Pods
// and Timeline. The explanation of a Job is a separate screen.
package job
