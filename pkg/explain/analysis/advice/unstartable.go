package advice

import (
	"regexp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// What a kubelet says of a container that refers to what is not there.
var (
	missingObject = regexp.MustCompile(`\b(?i:(configmap|secret)) "([-.a-z0-9]+)" not found`)
	missingKey    = regexp.MustCompile(`couldn't find key ([-._a-zA-Z0-9]+) in (?i:(configmap|secret)) [-a-z0-9]+/([-.a-z0-9]+)`)
)

// kindsOfObjects are the kinds as kubectl writes them.
var kindsOfObjects = map[string]string{"configmap": "ConfigMap", "secret": "Secret"}

// onUnstartable is about a container that the kubelet or the runtime cannot start: what its message asks for.
func onUnstartable(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	c, message := &explain.Container{Name: p.Container, Image: p.Image}, strings.Join(p.Details, " ")
	object, key := missingObject.FindStringSubmatch(message), missingKey.FindStringSubmatch(message)
	text := ""
	switch {
	case object != nil:
		text = words.CreateObject(kindsOfObjects[strings.ToLower(object[1])], object[2])
	case key != nil:
		text = words.AddKey(key[1], kindsOfObjects[strings.ToLower(key[2])], key[3])
	case strings.Contains(message, "runAsNonRoot"), strings.Contains(message, "non-root policy"):
		text = words.RunAsNonRoot
	case strings.Contains(message, "failed to reserve container name"), strings.Contains(message, "is already in use by container"):
		text = words.AwaitRuntime(p.Container)
	case p.Reason == "PostStartHookError":
		text = words.FixPostStartHook(p.Container)
	case p.Reason == "CreateContainerConfigError":
		text = words.FixContainerConfig(p.Container)
	default:
		text = startRemedy(in, c, message)
	}
	return advise(text, kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0])))
}

// onProcessOOMKilled is about a container that is not known to have done all of its work.
func onProcessOOMKilled(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	limit := explain.MemoryLimit{}
	if p.MemoryLimit != nil {
		limit = *p.MemoryLimit
	}
	out := advise(words.MemoryAdvice(p.Container, limit, p.Image != ""), "")
	if p.Exit.ExitCode == 0 {
		out = append(out, advise(words.FailIfKilled(p.Container), "")...)
	}
	return append(out, advise(words.CheckResult, kubectl(in.Job, "logs %s -c %s", shellWord(p.Pods[0]), shellWord(p.Container)))...)
}
