package logs

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// validateFlags checks the flags that choose logs and lines.
func (o *Options) validateFlags() error {
	switch {
	case o.options.TailLines < -1:
		return cmdutil.UsageErrorf("--tail=%d: must be 0 or more, or -1 for all", o.options.TailLines)
	case o.options.Concurrency < 1:
		return cmdutil.UsageErrorf("--max-log-requests=%d: must be 1 or more", o.options.Concurrency)
	case o.options.LimitBytes < 0:
		return cmdutil.UsageErrorf("--limit-bytes=%d: must be 1 or more, or 0 for all", o.options.LimitBytes)
	case o.options.Since < 0:
		return cmdutil.UsageErrorf("--since=%s: must not be negative", o.options.Since)
	case o.options.Since != 0 && o.sinceTime != "":
		return cmdutil.UsageErrorf("--since and --since-time cannot be used together")
	case len(o.options.Containers) > 0 && o.allContainers && o.options.AllContainers:
		return cmdutil.UsageErrorf("--container and --all-containers cannot be used together")
	case o.options.Previous && o.follow:
		return cmdutil.UsageErrorf("--previous and --follow cannot be used together")
	}
	if o.sinceTime != "" {
		var err error
		if o.options.SinceTime, err = time.Parse(time.RFC3339, o.sinceTime); err != nil {
			return cmdutil.UsageErrorf("--since-time=%s: must be a time such as 2026-03-01T12:00:00Z", o.sinceTime)
		}
	}
	return o.color.Validate()
}
