// Package simulate implements the verb simulate: it runs a Job in a virtual cluster.
package simulate
