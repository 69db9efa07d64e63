package cli

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (o *logsOptions) validateNumbers() error {
	switch {
	case o.tail < -1:
		return usageErrorf("--tail=%d: must be 0 or more, or -1 for all", o.tail)
	case o.maxRequests < 1:
		return usageErrorf("--max-log-requests=%d: must be 1 or more", o.maxRequests)
	case o.limitBytes < 0:
		return usageErrorf("--limit-bytes=%d: must be 1 or more, or 0 for all", o.limitBytes)
	case o.since < 0:
		return usageErrorf("--since=%s: must not be negative", o.since)
	}
	return nil
}

func (o *logsOptions) validateSince() error {
	if o.sinceTime == "" {
		return nil
	}
	if o.since != 0 {
		return usageErrorf("--since and --since-time exclude each other")
	}
	t, err := time.Parse(time.RFC3339, o.sinceTime)
	if err != nil {
		return usageErrorf("--since-time=%s: write it as in 2026-03-01T12:00:00Z", o.sinceTime)
	}
	o.sinceAt = &metav1.Time{Time: t}
	return nil
}

func (o *logsOptions) validateChoice() error {
	switch {
	case len(o.choice.containers) > 0 && o.allContainers && o.choice.all:
		return usageErrorf("--container and --all-containers exclude each other")
	case o.choice.previous && o.follow:
		return usageErrorf("--previous and --follow exclude each other: what is over does not go on")
	}
	return o.color.Validate()
}
