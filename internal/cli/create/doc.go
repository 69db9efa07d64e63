// Package create implements the verb create: it creates Jobs, CronJobs and JobSets from manifests.
package create
