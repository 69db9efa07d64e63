// Package create is the verb create: it creates Jobs and CronJobs from manifests.
package create
