package meaning

import (
	"cmp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// securityRefusals are refusals because of what a pod template asks for from its node.
var securityRefusals = []row[RefusalKind]{
	{
		kind:       RefusalPodSecurity,
		patterns:   re(`^violates PodSecurity "(?P<name>[^"]+)": (?P<detail>.*)`),
		brief:      "Pod Security {name}",
		text:       "Pod Security {name} does not allow the pod template",
		advice:     "{recreate} {settings}; or have label pod-security.kubernetes.io/enforce of the namespace name a less strict level",
		ofTemplate: true,
		command:    "kubectl get namespace {namespace} --show-labels",
	},
	{
		kind:       RefusalSCC,
		patterns:   re(`^unable to validate against any security context constraint: (?P<detail>.*)`),
		brief:      "no SCC allows it",
		text:       "no security context constraint allows {detail}",
		complete:   true,
		advice:     "leave {fields} out of the pod template, so that OpenShift sets permitted values; or let the ServiceAccount of its pods use a security context constraint (SCC) that allows them: " + addConstraint,
		whole:      true,
		command:    "kubectl get securitycontextconstraints",
		ofTemplate: true,
	},
	{
		kind:       RefusalPSP,
		patterns:   re(`^unable to validate against any pod security policy: \[?(?P<detail>.*?)\]?$`),
		brief:      "no PodSecurityPolicy allows it",
		text:       "no PodSecurityPolicy that its ServiceAccount may use allows the pod template",
		advice:     "let the ServiceAccount of its pods use a PodSecurityPolicy that allows them (verb use, by a Role), or {recreate} without what the message names",
		command:    "kubectl get podsecuritypolicies",
		ofTemplate: true,
	},
	{
		kind:       RefusalAutopilot,
		patterns:   re(`^admission webhook "[^"]+" denied the request: GKE (?:Warden|Policy Controller) rejected the request .*?\]": ?\[ ?"(?P<detail>[^"]+?)\.?(?: Request(?:ing|ed by) user[^"]*)?"`),
		brief:      "Autopilot",
		text:       "GKE Autopilot does not allow the pod template",
		advice:     "{recreate} without what Autopilot does not allow, or run the Job on a GKE Standard cluster",
		ofTemplate: true,
	},
}

// securityCheck is a check of Pod Security: the beginning of its words in a message, and what satisfies it: values to set in the
// securityContext of containers, or what to leave out of the pod template.
type securityCheck struct{ name, set, omit string }

// securityChecks are all checks, as of Kubernetes 1.36. If the message demands to leave out a value, omit counts.
var securityChecks = []securityCheck{
	{name: "allowPrivilegeEscalation", set: "allowPrivilegeEscalation: false"},
	{name: "unrestricted capabilities", set: "capabilities.drop: [ALL]", omit: "the capabilities that the message names"},
	{name: "non-default capabilities", omit: "the capabilities that the message names"},
	{name: "runAsNonRoot", set: "runAsNonRoot: true"},
	{name: "runAsUser", set: "a runAsUser other than 0"},
	{name: "seccompProfile", set: "seccompProfile.type: RuntimeDefault"},
	{name: "privileged", omit: "privileged: true"},
	{name: "hostProcess", omit: "windowsOptions.hostProcess"},
	{name: "procMount", omit: "procMount"},
	{name: "seLinuxOptions", omit: "seLinuxOptions"},
	{name: "forbidden AppArmor", omit: "its AppArmor profile"},
	{name: "forbidden sysctl", omit: "the sysctls that the message names"},
	{name: "hostPort", omit: "hostPort"},
	{name: "hostPath volumes", omit: "its hostPath volumes"},
	{name: "restricted volume types", omit: "the volumes that the message names"},
	{name: "host namespaces", omit: "host namespaces"},
	{name: "probe or lifecycle host", omit: "host in its probes and lifecycle hooks"},
}

// checked matches a check of a message with what it demands in brackets, and hostNamespace a field of the check of host namespaces.
var (
	checked       = lazyregexp.New(`([^(),]+?) \(((?:[^()]|\([^()]*\))*)\)(?:, |$)`)
	hostNamespace = lazyregexp.New(`\bhost(?:Network|PID|IPC)\b`)
)

// settings returns what a pod template needs to pass the checks of Pod Security, "with a corrected pod template" if none is known; of is
// what has the securityContext.
func (r *Refusal) settings(of string) string {
	if r.Kind != RefusalPodSecurity {
		return ""
	}
	var with, without []string
	for _, m := range checked.FindAllStringSubmatch(r.Message, -1) {
		check := securityCheckNamed(strings.TrimSpace(m[1]))
		if check == nil {
			continue
		}
		if fields := hostNamespace.FindAllStringSubmatch(m[2], -1); check.name == "host namespaces" && len(fields) > 0 {
			for _, field := range fields {
				without = append(without, field[0])
			}
			continue
		}
		if check.set != "" && (check.omit == "" || strings.Contains(m[2], "must set")) {
			with = append(with, check.set)
		}
		if check.omit != "" && (check.set == "" || strings.Contains(m[2], "must not include")) {
			without = append(without, check.omit)
		}
	}
	set, omit := "", ""
	if len(with) > 0 {
		set = "with " + wording.Enumerate(with, "and") + " in the securityContext of " + of
	}
	if len(without) > 0 {
		omit = "without " + wording.Enumerate(without, "and")
	}
	return cmp.Or(wording.Join(", and ", set, omit), "with a corrected pod template")
}

func securityCheckNamed(text string) *securityCheck {
	for i := range securityChecks {
		if strings.HasPrefix(text, securityChecks[i].name) {
			return &securityChecks[i]
		}
	}
	return nil
}
