package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// probeRestart is the kubelet's message about a container that it kills and restarts.
var probeRestart = lazyregexp.New(`^Container (\S+) failed (liveness|startup) probe, will be restarted$`)

// OfProbeRestart returns the container that the kubelet kills and restarts, with the probe, from an event; nil for other events.
func OfProbeRestart(reason, message string) *Ending {
	if m := probeRestart.FindStringSubmatch(message); m != nil && reason == "Killing" {
		return &Ending{Kind: EndProbe, By: ByKubelet, Container: m[1], Probe: m[2]}
	}
	return nil
}

// probedInVain is a message of the kubelet about a probe that it cannot run in a container because that has stopped.
var probedInVain = lazyregexp.New(`(?s)probe errored.*(?:cannot exec in a stopped (?:container|state)|cannot exec a container that has (?:run and )?stopped|[Cc]ontainer (?:[0-9a-f]{12,} )?(?:is )?not running|container is not created or running|no running task found)`)

// IsProbedInVain reports whether an event is about a probe of a container that has stopped.
func IsProbedInVain(reason, message string) bool {
	return reason == "Unhealthy" && probedInVain.MatchString(message)
}

// probeFailure is the kubelet's message about a probe that failed, or that it could not run.
var probeFailure = lazyregexp.New(`(?s)^(Liveness|Startup) probe (?:failed|errored(?: and resulted in \w+ state)?): (.*)$`)

// ProbeFailure parses an event Unhealthy of a liveness or startup probe into the probe, in lower case, and its output; "" for
// other events.
func ProbeFailure(reason, message string) (probe, output string) {
	m := probeFailure.FindStringSubmatch(message)
	if reason != "Unhealthy" || m == nil {
		return "", ""
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2])
}
