package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// securityRefusals are refusals because of what a pod template asks for from its node.
var securityRefusals = []row[RefusalKind]{
	{
		kind:       RefusalPodSecurity,
		patterns:   re(`^violates PodSecurity "(?P<name>[^"]+)": (?P<detail>.*)`),
		ofTemplate: true, brief: "Pod Security {name}",
		text:    "Pod Security {name} does not allow the pod template",
		advice:  "{recreate} {settings}; or have label pod-security.kubernetes.io/enforce of the namespace name a less strict level",
		command: "kubectl get namespace {namespace} --show-labels",
	},
	{
		kind:     RefusalSCC,
		patterns: re(`^unable to validate against any security context constraint: (?P<detail>.*)`),
		complete: true, whole: true, ofTemplate: true, brief: "no SCC allows it",
		text:    "{account} has no SCC for {detail}",
		advice:  "leave {fields} out of the pod template",
		command: "kubectl get securitycontextconstraints",
	},
	{
		kind:       RefusalPSP,
		patterns:   re(`^unable to validate against any pod security policy: \[?(?P<detail>.*?)\]?$`),
		ofTemplate: true, brief: "no PodSecurityPolicy allows it",
		text:    "{account} may use no PodSecurityPolicy that allows the pod template",
		advice:  "let {account} use a PodSecurityPolicy that allows such pods (verb use, by a Role), or {recreate} without what none of them allows",
		command: "kubectl get podsecuritypolicies",
	},
	{
		kind:       RefusalAutopilot,
		patterns:   re(`^admission webhook "[^"]+" denied the request: GKE (?:Warden|Policy Controller) rejected the request .*?\]": ?\[ ?"(?P<detail>[^"]+?)\.?(?: Request(?:ing|ed by) user[^"]*)?"`),
		ofTemplate: true, brief: "Autopilot",
		text:   "GKE Autopilot does not allow the pod template",
		advice: "{recreate} without what Autopilot does not allow, or run the Job on a GKE Standard cluster",
	},
}

// policyField matches a field of the pod with a value that no PodSecurityPolicy allows, before the reason.
var policyField = lazyregexp.New(`,? ?\bspec\.[\w.\[\]]+: Invalid value: (?:"[^"]*"|[^:"]+): `)

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

// Parts of OpenShift's message that say nothing about the pod: constraints that its ServiceAccount may not use, and lists in
// Go's syntax before a sentence about one of their elements.
var (
	unusable = lazyregexp.New(`(?:, )?provider "?[^":]+"?: Forbidden: not usable by user or serviceaccount(?:, provider \S+$)?`)
	goList   = lazyregexp.New(`Invalid value: \[\][a-z0-9]+\{([^}]*)\}: (?:(\d+) (is not an allowed group))?`)
)

func withoutUnusable(message string) string {
	if list, found := strings.CutPrefix(message, "["); found {
		message = strings.TrimSuffix(list, "]")
	}
	return strings.TrimPrefix(goList.ReplaceAllString(unusable.ReplaceAllString(message, ""), "Invalid value: $1: $3"), ", ")
}

// violation matches the beginning of a violation in OpenShift's message: the path of a field, and its value.
var violation = lazyregexp.New(`(?:, |\s|^)(?:provider "?[^":]+"?: )?[.a-z]*[\w.\[\]]*\.(\w+)(?:\[\d+\])?: Invalid value: ("[^"]*"|[^\s:]+): `)

// merelyForbids matches the reason of a violation that says no more than that the value is not allowed.
var merelyForbids = lazyregexp.New(`\bnot (?:allowed(?: to be used)?|an allowed group)$`)

// setByOpenShift are the fields that OpenShift sets to a permitted value if they are not set.
var setByOpenShift = []string{"runAsUser", "runAsGroup", "fsGroup", "supplementalGroups", "seLinuxOptions", "level"}

// violations returns OpenShift's message with only the last part of each path, "runAsUser 65532 (must be in …)", and the
// fields; the message as it is if it has no paths.
func violations(message string) (text string, fields []string) {
	all := violation.FindAllStringSubmatchIndex(message, -1)
	var parts []string
	for i, at := range all {
		end := len(message)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		field, value, why := message[at[2]:at[3]], message[at[4]:at[5]], strings.Trim(strings.Replace(message[at[1]:end], "in the ranges: ", "in ", 1), " ,")
		if merelyForbids.MatchString(why) {
			why = ""
		}
		if value == "true" { // The field itself says so.
			value = ""
		}
		part := wording.Join(" ", field, strings.Trim(value, `"`))
		if !slices.ContainsFunc(parts, func(other string) bool { return strings.HasPrefix(other+" ", part+" ") }) {
			parts = append(parts, part+wording.InBrackets(why))
		}
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	if len(parts) == 0 {
		return message, nil
	}
	return strings.Join(parts, ", "), fields
}

// Of sets the ServiceAccount of the refused pods if the refusal depends on its rights.
func (r *Refusal) Of(account string) *Refusal {
	isName := len(validation.IsDNS1123Subdomain(account)) == 0 // It may come from a forged bundle.
	if isName && (r.Kind == RefusalSCC || r.Kind == RefusalPSP) {
		r.Account = account
	}
	return r
}

// constraints are the security context constraints that OpenShift brings, the narrowest first, with the fields of a pod that each allows and
// restricted-v2 does not.
var constraints = []struct {
	name   string
	allows []string
}{
	{"anyuid", []string{"runAsUser", "runAsGroup", "fsGroup", "supplementalGroups"}},
	{"hostnetwork-v2", []string{"hostNetwork", "hostPort"}},
	{"hostmount-anyuid", []string{"volumes", "runAsUser", "runAsGroup", "fsGroup", "supplementalGroups"}},
	{"hostaccess", []string{"hostNetwork", "hostPort", "hostPID", "hostIPC", "volumes"}},
}

// constraint returns the narrowest constraint of OpenShift that allows the fields.
func (r *Refusal) constraint() string {
	for _, c := range constraints {
		if !slices.ContainsFunc(r.Fields, func(field string) bool { return !slices.Contains(c.allows, field) }) && len(r.Fields) > 0 {
			return c.name
		}
	}
	return "privileged"
}

// constraintAdvice returns advice on what OpenShift does not allow: the ServiceAccount default should not get more rights,
// as all pods have it that name none.
func (r *Refusal) constraintAdvice(namespace string) (text string) {
	allow := fmt.Sprintf("a security context constraint (SCC) that allows them, such as %s", r.constraint())
	switch r.Account {
	case "":
		text = "let the ServiceAccount of its pods use " + allow
	case "default":
		text = fmt.Sprintf("{recreate} with the serviceAccountName of an account that may use %s (oc adm policy who-can use scc %s): without one, its pods use ServiceAccount default", allow, r.constraint())
	default:
		text = fmt.Sprintf("let ServiceAccount %s use %s (oc adm policy add-scc-to-user %s -z %s -n %s)", r.Account, allow, r.constraint(), r.Account, namespace)
	}
	if slices.ContainsFunc(r.Fields, func(field string) bool { return !slices.Contains(setByOpenShift, field) }) {
		return text + "; or " + r.fill(r.row().advice)
	}
	return r.fill(r.row().advice) + ", so that OpenShift sets permitted values; or " + text
}
