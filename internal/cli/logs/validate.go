package logs

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

func (o *Options) validateNumbers() error {
	switch {
	case o.options.TailLines < -1:
		return cmdutil.UsageErrorf("--tail=%d: must be 0 or more, or -1 for all", o.options.TailLines)
	case o.options.Concurrency < 1:
		return cmdutil.UsageErrorf("--max-log-requests=%d: must be 1 or more", o.options.Concurrency)
	case o.options.LimitBytes < 0:
		return cmdutil.UsageErrorf("--limit-bytes=%d: must be 1 or more, or 0 for all", o.options.LimitBytes)
	case o.options.Since < 0:
		return cmdutil.UsageErrorf("--since=%s: must not be negative", o.options.Since)
	}
	return nil
}

func (o *Options) validateSince() error {
	if o.sinceTime == "" {
		return nil
	}
	if o.options.Since != 0 {
		return cmdutil.UsageErrorf("--since and --since-time cannot be used together")
	}
	t, err := time.Parse(time.RFC3339, o.sinceTime)
	if err != nil {
		return cmdutil.UsageErrorf("--since-time=%s: must be a time such as 2026-03-01T12:00:00Z", o.sinceTime)
	}
	o.options.SinceTime = t
	return nil
}

func (o *Options) validateChoice() error {
	switch {
	case len(o.options.Containers) > 0 && o.allContainers && o.options.AllContainers:
		return cmdutil.UsageErrorf("--container and --all-containers cannot be used together")
	case o.options.Previous && o.follow:
		return cmdutil.UsageErrorf("--previous and --follow cannot be used together")
	}
	return o.color.Validate()
}
