package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// probeRestart is the kubelet's message about a container that it kills and restarts.
var probeRestart = lazyregexp.New(`^Container (\S+) failed (\w+) probe, will be restarted$`)

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
var probeFailure = lazyregexp.New(`(?s)^(\w+) probe (?:failed|errored(?: and resulted in \w+ state)?): (.*)$`)

// ProbeFailure parses an event Unhealthy of a liveness or startup probe into the probe, in lower case, and its output; "" for
// other events.
func ProbeFailure(reason, message string) (probe, output string) {
	m := probeFailure.FindStringSubmatch(message)
	if reason != "Unhealthy" || m == nil || m[1] == "Readiness" {
		return "", ""
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2])
}

// probeFault is what the output of a probe means. The keys {probe}, {container} and {name}, the group of its pattern, are replaced.
type probeFault struct {
	pattern *lazyregexp.Regexp
	// text replaces the output where that does not say what it means, "" for others.
	text, advice string
}

// probeFaults are in the order in which they are sought.
var probeFaults = []probeFault{
	{lazyregexp.New(`strconv\.Atoi: parsing "(?P<name>[^"]+)"`), "no port of the container has the name {name}",
		"{recreate} with the number of the port in the {probe} probe of container {container}, or with a port of the name {name} in ports of the container"},
	{lazyregexp.New(`(?P<name>/[^\s:"']+)['"]?: (?:[Nn]o such file or directory|not found)`), "",
		"correct the command of the {probe} probe of container {container}, or have the container mount or write its file {name}"},
	{lazyregexp.New(`exec: "(?P<name>[^"]+)": executable file not found`), "its image has no {name}",
		"use a command for the {probe} probe of container {container} that its image has, which has no {name}; an httpGet or tcpSocket probe needs none"},
	{lazyregexp.New(`^(?:Get "\S+ )?dial tcp (?P<name>\S+): connect: connection refused|failed to connect service "(?P<name>[^"]+)"`), "",
		"have container {container} listen at the address of the pod (0.0.0.0, not 127.0.0.1) and at the port of its {probe} probe ({name}); if it only starts slowly, give it a startupProbe with a higher failureThreshold"},
	{lazyregexp.New(`HTTP probe failed with statuscode: (?P<name>40[0-9])`), "",
		"correct the path of the {probe} probe of container {container}, which answers it with {name}, or give the probe the httpHeaders that the program asks for"},
	{lazyregexp.New(`context deadline exceeded|[Tt]imeout|timed out|did not complete within`), "",
		"raise timeoutSeconds of the {probe} probe of container {container}, which is 1 by default, or give the container more cpu, if it is too busy to answer"},
	{lazyregexp.New(`HTTP response to HTTPS client|malformed HTTP response`), "", "correct the scheme (HTTP or HTTPS) of the {probe} probe of container {container}"},
	{lazyregexp.New(`does not implement the grpc health protocol`), "",
		"use an httpGet, tcpSocket or exec probe for container {container}, as its program does not serve grpc.health.v1.Health"},
}

// faultOf returns what the output of a probe means, with the name in it; nil for other outputs.
func faultOf(output string) (f *probeFault, name string) {
	for i := range probeFaults {
		if readGroups(probeFaults[i].pattern, output, map[string]*string{"name": &name}) {
			return &probeFaults[i], name
		}
	}
	return nil, ""
}

// ProbeFault says why a probe fails if its output does not, else "".
func ProbeFault(output string) string {
	if f, name := faultOf(output); f != nil {
		return wording.Insert(f.text, "{name}", name)
	}
	return ""
}

func probeAdvice(e *Ending, output string) string {
	advice := "find out why container {container} did not answer its {probe} probe, or correct the probe (path, port, timeoutSeconds, failureThreshold)"
	f, name := faultOf(output)
	switch {
	case f != nil:
		advice = f.advice
	case e.Probe == "startup":
		advice = "give container {container} more time to start (failureThreshold and periodSeconds of its startup probe), or correct the probe"
	}
	return wording.Insert(advice, "{container}", e.Container, "{probe}", e.Probe, "{name}", name)
}
