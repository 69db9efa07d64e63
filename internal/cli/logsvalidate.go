package cli

import "time"

func (o *logsOptions) validateNumbers() error {
	switch {
	case o.options.TailLines < -1:
		return usageErrorf("--tail=%d: must be 0 or more, or -1 for all", o.options.TailLines)
	case o.options.Concurrency < 1:
		return usageErrorf("--max-log-requests=%d: must be 1 or more", o.options.Concurrency)
	case o.options.LimitBytes < 0:
		return usageErrorf("--limit-bytes=%d: must be 1 or more, or 0 for all", o.options.LimitBytes)
	case o.options.Since < 0:
		return usageErrorf("--since=%s: must not be negative", o.options.Since)
	}
	return nil
}

func (o *logsOptions) validateSince() error {
	if o.sinceTime == "" {
		return nil
	}
	if o.options.Since != 0 {
		return usageErrorf("--since and --since-time exclude each other")
	}
	t, err := time.Parse(time.RFC3339, o.sinceTime)
	if err != nil {
		return usageErrorf("--since-time=%s: write it as in 2026-03-01T12:00:00Z", o.sinceTime)
	}
	o.options.SinceTime = t
	return nil
}

func (o *logsOptions) validateChoice() error {
	switch {
	case len(o.options.Containers) > 0 && o.allContainers && o.options.AllContainers:
		return usageErrorf("--container and --all-containers exclude each other")
	case o.options.Previous && o.follow:
		return usageErrorf("--previous and --follow exclude each other: what is over does not go on")
	}
	return o.color.Validate()
}
