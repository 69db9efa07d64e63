// Package command predicts the behavior of a container from the text of its command: whether it waits in a loop, runs
// forever, or uses the index of its pod. It understands shell, and the images of common sidecars, but cannot read
// scripts in images and ConfigMaps.
//
// If in doubt, it reports nothing.
package command

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Place is the position of an item in a container's command, args or env.
type Place struct {
	// Field is command, args or env, and Text is the item.
	Field string
	Index int
	Text  string
}

// find returns the first item of command and args that matches.
func find(c *corev1.Container, matches func(string) bool) (Place, bool) {
	if i := slices.IndexFunc(c.Command, matches); i >= 0 {
		return Place{"command", i, c.Command[i]}, true
	}
	if i := slices.IndexFunc(c.Args, matches); i >= 0 {
		return Place{"args", i, c.Args[i]}, true
	}
	return Place{}, false
}

// commandLine returns command and args as one line.
func commandLine(c *corev1.Container) string {
	return strings.Join(slices.Concat(c.Command, c.Args), " ")
}

var (
	loop      = regexp.MustCompile(`(?s)\b(?:until|while)\b.*\bdone\b`)
	sleeps    = regexp.MustCompile(`\bsleep\b`)
	readsFile = regexp.MustCompile(`\bwhile\s+(?:IFS=\S*\s+)?read\b`)
	// givesUp matches the ways in which loops count, measure time, or fail. It excludes break and exit 0, which may end
	// a loop when the wait is over.
	givesUp = regexp.MustCompile(`\(\(|\bexpr\b|\blet\b|\bSECONDS\b|date \+%s|\b(?:exit|return)\s+["']?[1-9$]`)
	// timeLimit matches coreutils' timeout, not an option of this name.
	timeLimit = regexp.MustCompile(`(?:^|[\s;&|(])timeout\s+(?:-\S+\s+)*\d`)
)

// WaitsForever returns the position of a shell loop that sleeps until a condition holds, without a limit of its own.
func WaitsForever(c *corev1.Container) (Place, bool) {
	return find(c, func(text string) bool {
		if !strings.Contains(text, "done") { // most texts have no loop
			return false
		}
		found := loop.FindString(text)
		return sleeps.MatchString(found) && !readsFile.MatchString(found) && !givesUp.MatchString(text) && !timeLimit.MatchString(commandLine(c))
	})
}

var (
	endlessEnd  = regexp.MustCompile(`(?:^|[;&|\n]\s*|\bexec\s+|\s-\w*c\s+["']?)(sleep\s+(?:infinity|inf)|tail\s+-[fF]\s+[^\s;&|]+)["';\s]*$`)
	endlessLoop = regexp.MustCompile(`(?s)\bwhile\s+(?:true|:|\[ 1 \]|\[\[ 1 \]\])\s*;?\s*do\b.*\bdone["';\s]*$`)
	leavesLoop  = regexp.MustCompile(`\b(?:break|exit|return|kill)\b`)
)

// Endless returns the command that keeps a container running forever, such as sleep infinity; "" if there is none.
func Endless(c *corev1.Container) string {
	text := commandLine(c)
	if !strings.Contains(text, "sleep") && !strings.Contains(text, "tail") && !strings.Contains(text, "done") {
		return ""
	}
	if found := endlessEnd.FindStringSubmatch(text); found != nil {
		return strings.Join(strings.Fields(found[1]), " ")
	}
	if found := endlessLoop.FindString(text); found != "" && !leavesLoop.MatchString(found) {
		return "a loop without an end"
	}
	return ""
}

// server is a program that serves other containers, and runs until it is stopped.
type server struct {
	// image is the last part of the image's name, or the last two parts; name is a common name of the container.
	image, name string
	what        string
}

// servers are common ones.
var servers = []server{
	{"cloud-sql-proxy", "cloud-sql-proxy", "the Cloud SQL proxy"},
	{"gce-proxy", "cloudsql-proxy", "the Cloud SQL proxy"},
	{"alloydb-auth-proxy", "", "the AlloyDB proxy"},
	{"proxyv2", "istio-proxy", "Istio's proxy"},
	{"envoy", "envoy", "Envoy"},
	{"linkerd/proxy", "linkerd-proxy", "Linkerd's proxy"},
	{"oauth2-proxy", "oauth2-proxy", "oauth2-proxy"},
	{"pgbouncer", "pgbouncer", "PgBouncer"},
	{"", "vault-agent", "Vault's agent"},
	{"fluent-bit", "fluent-bit", "Fluent Bit"},
	{"fluentd", "fluentd", "Fluentd"},
	{"filebeat", "filebeat", "Filebeat"},
	{"promtail", "promtail", "Promtail"},
	{"opentelemetry-collector", "otel-collector", "the OpenTelemetry collector"},
	{"opentelemetry-collector-contrib", "", "the OpenTelemetry collector"},
	{"", "dind", "the Docker daemon"},
}

// Server returns the well-known server that a container runs, by its image or name; "" if there is none.
func Server(c *corev1.Container) string {
	image, tag := splitImage(c.Image)
	if strings.HasSuffix(image, "docker") && strings.Contains(tag, "dind") {
		return "the Docker daemon"
	}
	for _, s := range servers {
		if s.image != "" && (image == s.image || strings.HasSuffix(image, "/"+s.image)) || s.name != "" && c.Name == s.name {
			return s.what
		}
	}
	return ""
}

// splitImage returns the name of an image, and its tag or digest.
func splitImage(image string) (name, tag string) {
	name, tag, found := strings.Cut(image, "@")
	if found {
		return name, tag
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return name[:i], name[i+1:]
	}
	return name, ""
}

var stops = regexp.MustCompile(`quitquitquit|/quit\b|exit[-_]after[-_]auth|linkerd-await|scuttle`)

// StopsServers reports whether a container seems to stop other containers of its pod when it ends, or, as a server, to
// end on its own.
func StopsServers(c *corev1.Container, sharedProcesses bool) bool {
	text := commandLine(c)
	for _, v := range c.Env {
		text += " " + v.Name + "=" + v.Value
	}
	return stops.MatchString(text) || sharedProcesses && strings.Contains(text, "kill")
}

var (
	runsShell = regexp.MustCompile(`(?i)\b(?:ba|da|z|k|a|fi|power)?sh\b|\bcmd\b|\bentrypoint|\beval\b|\bxargs\b|\bfind\b|\btest\b|^\[`)
	operator  = regexp.MustCompile(`^(?:&&|\|\|?|;|&|[12]?>>?|2>&1|<)$`)
)

// ShellSyntax returns the position of an operator of a shell in a command that runs no shell, or of a program's name that
// contains its arguments.
func ShellSyntax(c *corev1.Container) (Place, bool) {
	if len(c.Command) == 0 || runsShell.MatchString(commandLine(c)) {
		return Place{}, false
	}
	if strings.Contains(c.Command[0], " ") {
		return Place{"command", 0, c.Command[0]}, true
	}
	return find(c, operator.MatchString)
}

const (
	indexVariable   = "JOB_COMPLETION_INDEX"
	indexAnnotation = "job-completion-index"
)

// UsesIndex returns where a container uses the index of its pod in an Indexed Job. A container that sets a variable of
// that name itself, or has a fallback value for it, does not count.
func UsesIndex(c *corev1.Container) (Place, bool) {
	if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable && v.ValueFrom == nil }) {
		return Place{}, false
	}
	for i, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.FieldRef != nil && strings.Contains(v.ValueFrom.FieldRef.FieldPath, indexAnnotation) || strings.Contains(v.Value, "$("+indexVariable+")") {
			return Place{"env", i, v.Name}, true
		}
	}
	return find(c, func(text string) bool {
		_, after, found := strings.Cut(text, indexVariable)
		return found && !strings.HasPrefix(after, ":-") && !strings.HasPrefix(after, ":=") && !strings.HasPrefix(after, "-")
	})
}
