package advice

import (
	"regexp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
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
	describe := kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0]))
	text, command := "", ""
	switch {
	case object != nil:
		kind := kindsOfObjects[strings.ToLower(object[1])]
		text, command = words.CreateObject(kind, object[2]), objectCommand(in, kind, object[2], "")
	case key != nil:
		kind := kindsOfObjects[strings.ToLower(key[2])]
		text, command = words.AddKey(key[1], kind, key[3]), objectCommand(in, kind, key[3], key[1])
	case strings.Contains(message, "runAsNonRoot"), strings.Contains(message, "non-root policy"):
		text = words.RunAsNonRoot
	case strings.Contains(message, "failed to reserve container name"), strings.Contains(message, "is already in use by container"):
		text = words.AwaitRuntime(p.Container)
	case p.Reason == "PostStartHookError":
		text, command = words.FixPostStartHook(p.Container), describe
	case p.Reason == "CreateContainerConfigError":
		text, command = words.FixContainerConfig(p.Container), describe
	default:
		text = startRemedy(in, c, message)
		if eventtext.StartErrorIn(message) == nil {
			command = describe
		}
	}
	return advise(text, command)
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
