package facts

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// HeldByKueue returns the queue of the Job, and the reason why Kueue holds it, nil if its Workload shows none.
func HeldByKueue(in *Facts) (queue string, hold *kueue.Hold) {
	queue = in.Job.Labels[kueue.QueueLabel]
	if in.Workload == nil {
		return queue, nil
	}
	if hold = kueue.HoldOf(in.Workload, in.Now); hold != nil {
		hold.Selector = selectorText(&in.Spec.Template.Spec)
	}
	return cmp.Or(queue, in.Workload.Queue), hold
}

// maxSelector is the maximum length of a nodeSelector in a sentence.
const maxSelector = 60

// selectorText returns the nodeSelector of pods, "" if they have none, or also an affinity to nodes.
func selectorText(pod *corev1.PodSpec) string {
	if len(pod.NodeSelector) == 0 || pod.Affinity != nil && pod.Affinity.NodeAffinity != nil {
		return ""
	}
	return "nodeSelector " + wording.Cut(labels.Set(pod.NodeSelector).String(), maxSelector)
}

// servers match the server that the commands of usual init containers ask for until it answers: a host, and a port if the command
// names one.
var servers = []*lazyregexp.Regexp{
	lazyregexp.New(`\bnc (?:-\S+ (?:\d+ )?)*([A-Za-z][\w.-]*) (\d+)`),
	lazyregexp.New(`\b(?:nslookup|getent (?:hosts|ahosts)|dig(?: \+\S+)*|ping(?: -\S+(?: \d+)?)*) ([A-Za-z][\w-]*(?:\.[\w-]+)*)`),
	lazyregexp.New(`\b(?:pg_isready|psql|pg_dump|pg_dumpall|pg_restore|mysqldump|mysqladmin|mysql|mariadb-admin|mariadb|redis-cli)\b[^;|&\n]*? (?:-h ?|--host[= ])["']?([A-Za-z][\w.-]*)["']?(?:[^;|&\n]*? (?:-p ?|-P ?|--port[= ])["']?(\d+))?`),
	lazyregexp.New(`\bwait-for(?:-it)?(?:\.sh)? (?:-\S+ (?:\d+ )?)*([A-Za-z][\w.-]*):(\d+)`),
	lazyregexp.New(`\b(?:curl|wget)\b[^;|&\n]*? ["']?https?://([A-Za-z][\w.-]*)(?::(\d+))?`),
	lazyregexp.New(`\bwait-for-port\b[^;|&\n]*? --host[= ]([A-Za-z][\w.-]*)(?:[^;|&\n]* (\d+))?`),
	lazyregexp.New(`/dev/tcp/([A-Za-z][\w.-]*)/(\d+)`),
}

// ServersOf returns the servers that the command of a container of the Job's template asks for, as HOST or HOST:PORT, each
// host once.
func ServersOf(in *Facts, container string) (all []string) {
	c := in.TemplateContainer(container)
	if c == nil {
		return nil
	}
	text := strings.Join(slices.Concat(c.Command, c.Args), " ")
	for _, e := range c.Env {
		if e.Value != "" {
			text = strings.NewReplacer("${"+e.Name+"}", e.Value, "$("+e.Name+")", e.Value, "$"+e.Name+" ", e.Value+" ").Replace(text)
		}
	}
	for _, pattern := range servers {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			server := m[1]
			if len(m) > 2 && m[2] != "" {
				server += ":" + m[2]
			}
			if !slices.ContainsFunc(all, func(other string) bool { return other == m[1] || strings.HasPrefix(other, m[1]+":") }) {
				all = append(all, server)
			}
		}
	}
	return all
}

// AskedServers returns the servers that the commands of a container and of the init containers of the Job's template ask for.
func AskedServers(in *Facts, container string) []string {
	all := ServersOf(in, container)
	for i := range in.Spec.Template.Spec.InitContainers {
		all = append(all, ServersOf(in, in.Spec.Template.Spec.InitContainers[i].Name)...)
	}
	return all
}

// HidesExit returns the end of the script of a container of the Job's template that hides the exit code of its programs, such as
// "|| true"; "" if it hides none.
func HidesExit(in *Facts, container string) string {
	return (&meaning.Container{Arguments: Arguments(in, container)}).HidesExit()
}

// WorkedOn returns what the program of a container worked on when it failed, as far as the known error, or else its words, leave it out.
func WorkedOn(in *Facts, container string, clue *meaning.Clue, known *meaning.KnownError) string {
	return clue.Place(known, &meaning.Container{Name: container, Arguments: Arguments(in, container), Variables: Variables(in, container), Labels: in.Spec.Template.Labels})
}

// ErrorPassed returns the logged error of a command after which the container's script continued, or "".
func ErrorPassed(in *Facts, container string, lines []string) string {
	return (&meaning.Container{Arguments: Arguments(in, container)}).ErrorPassed(lines)
}
