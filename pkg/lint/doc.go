// Package lint reviews a Job, or the Jobs of a CronJob: it finds settings that the API server will reject, that can
// never work, or that are probably mistakes.
package lint
