// Package catalog lists the kinds of findings of lint, by ID, with their meaning; the IDs are stable. A test compares
// the list with the code. It is the source for reports to other programs, and for the documentation.
package catalog

import (
	"slices"
	"strings"
)

// Rule is a kind of finding.
type Rule struct {
	ID string
	// Severity is error, warning or info; the most serious for a rule with several.
	Severity string
	// Text describes the problem, in one sentence without a period.
	Text string
}

// Rules returns all kinds of findings, sorted by ID.
func Rules() []Rule {
	var rules []Rule
	for severity, table := range map[string]string{"error": failures, "warning": warnings, "info": infos} {
		for line := range strings.Lines(table) {
			if id, text, found := strings.Cut(strings.TrimSpace(line), ": "); found {
				rules = append(rules, Rule{ID: id, Severity: severity, Text: text})
			}
		}
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return rules
}

// Find returns the rule with this ID.
func Find(id string) (Rule, bool) {
	rules := Rules()
	i, found := slices.BinarySearchFunc(rules, id, func(r Rule, id string) int { return strings.Compare(r.ID, id) })
	if !found {
		return Rule{}, false
	}
	return rules[i], true
}

const warnings = `
container-never-ends: a container beside others runs until something stops it, so the pod never succeeds; it should be a sidecar
deadline-per-pod: activeDeadlineSeconds is in the pod template, where each pod that replaces a failed one gets it anew
disruption-rule-too-late: a rule on exit codes matches preempted and evicted pods before the rule that is meant for them
env-twice: a container sets an environment variable twice
ignore-unknown: a comment or --ignore names no kind of finding
index-without-indexed: a container uses JOB_COMPLETION_INDEX, but the Job is not Indexed
limit-per-index-on-failure: with restartPolicy OnFailure, failures that restart a container do not count against the index
lines-ignored: a line that is indented less than the first field ends the object, and what follows is ignored
managed-by-misspelled: managedBy looks like a misspelling, so no controller would run the Job
max-failed-never-exceeded: maxFailedIndexes is the number of indexes, so it is never exceeded
names-on-cronjob: names of rules are annotations of the CronJob, where they have no effect
names-without-rules: the annotation names rules, but the Job has none
no-failed-history: with failedJobsHistoryLimit 0, failed Jobs are deleted at once, with their pods and logs
object-twice: another object in the folder has the same kind, namespace and name
quantity-tiny: a quantity of memory or storage is less than a kibibyte: m means thousandths, and no suffix means bytes
rule-matches-sidecars: a rule on exit codes without containerName matches sidecars that are stopped at the end of the pod
rule-name-not-camel-case: the name of a rule does not follow the convention for reasons of conditions
rule-name-unused: the controller that managedBy names does not support names of rules
rule-never-matches: earlier rules match all pods that this rule is for
schedule-day-or-weekday: a schedule has days of the month and days of the week, and a day needs to match only one of them
scheduling-of-cronjob: the built-in controller creates no PodGroups for Jobs of a CronJob
selector-manual: the Job chooses its own selector, which may match the pods of other Jobs
server-warns: the API server warns about the object, with --server
shell-syntax-without-shell: a command has the syntax of a shell, but no shell reads it
signal-ignored: a rule ignores exit code 137 or 143, which are also those of running out of memory and of a failed probe
starting-deadline-short: startingDeadlineSeconds is below the 10 s at which the controller looks, so Jobs may not start
status-too-large: the list of completed indexes may become too long for the Job's status
success-rule-never-met: a rule of successPolicy lists no index
template-immutable: Helm or Argo CD would update a Job whose pod template cannot change
wait-without-deadline: an init container waits in a loop that nothing ends, so the Job may stay active forever
`

const infos = `
both-limits: backoffLimit has no effect beside backoffLimitPerIndex, or hides it
condition-never-reached: an earlier rule already matches this condition
contains-jobs: an object of another kind contains Jobs, which are not checked
deadline-before-retries: activeDeadlineSeconds ends the Job before its last retry can start
disruption-not-ignored: a rule on exit codes ends the Job also when a pod is preempted or evicted
exit-code-never-reached: an earlier rule already matches this exit code
exit-code-unusual: no container on Linux has this exit code
forbid-without-deadline: with concurrencyPolicy Forbid, a Job that hangs keeps all others from starting, and no deadline ends it
ignored-for-ever: pods that keep failing like this are replaced forever, because ignored failures count toward no limit
log-lost-at-limit: with restartPolicy OnFailure, the pod is deleted at backoffLimit, and its log with it
many-at-minute-0: many CronJobs start at the same minute
no-completions: with completions 0, the Job completes without running pods
no-parallelism: with parallelism 0, the Job starts no pods
no-rules: podFailurePolicy has no rules
parallelism-above-completions: at most as many pods run as there are completions
schedule-uneven: a step of a schedule does not divide the hour or the day
scheduling-alpha: spec.scheduling is alpha, and dropped without its feature gate
success-rule-never-first: another rule of successPolicy is met whenever this one is
ttl-before-history: the Jobs of a CronJob are deleted before its history limit counts
ttl-zero: with ttlSecondsAfterFinished 0, the Job, its pods and their logs are deleted as soon as it ends
zero-never-compared: exit code 0 has no effect in a rule, because containers that succeed are never checked
`

const failures = `
action-unknown: a rule of podFailurePolicy has an action that does not exist
affinity-invalid: an affinity has an operator, a key, values or a weight that is not allowed
annotation-invalid: the key of an annotation is not allowed, or annotations are too large
api-version-wrong: the object has an API version, a group or a kind that the API server does not have
claim-unknown: a container uses a resource claim that the pod template does not have
completion-mode-unknown: completionMode is neither Indexed nor NonIndexed
completions-missing: an Indexed Job has no completions
concurrency-policy-unknown: concurrencyPolicy is neither Allow, Forbid nor Replace
condition-status-unknown: the status of a condition is neither True, False nor Unknown
condition-type-invalid: the type of a condition is not allowed
container-name-invalid: the name of a container is not a DNS label
container-name-twice: two containers have the same name
container-restart-policy-unknown: the restartPolicy of a container does not exist, or is missing beside restartPolicyRules
container-unknown: a rule names a container that the template does not have
container-without-image: a container has no image
container-without-name: a container has no name
deadline-zero: with activeDeadlineSeconds 0, the Job fails as soon as it starts
dns-config-invalid: dnsConfig has an address, a domain or an option that is not allowed, or too many
dns-policy-unknown: dnsPolicy does not exist
dns-without-servers: dnsPolicy None has no nameservers
env-name-invalid: the name of an environment variable is not allowed
env-source-incomplete: the source of an environment variable has no key, or one that is not allowed
env-source-missing: valueFrom or an item of envFrom is empty
env-two-sources: an environment variable has two sources
env-value-and-source: an environment variable has both value and valueFrom
env-without-name: an environment variable has no name
ephemeral-containers: a pod template has ephemeral containers
exit-code-twice: a rule lists an exit code twice
exit-code-zero: a rule with In lists exit code 0
exit-codes-not-sorted: the exit codes of a rule do not increase
fail-index-without-limit: the action FailIndex needs backoffLimitPerIndex
failure-policy-on-failure: podFailurePolicy needs restartPolicy Never
field-ref-invalid: the value of an environment variable cannot come from this field
field-twice: a field is given twice in the same object
file-mode-invalid: the mode of a file in a volume is not between 0 and 0777
finalizer-invalid: a finalizer does not exist, or is not allowed with another
from-cluster: the object is the output of kubectl get, with fields that only the API server sets
gate-invalid: a scheduling gate or readiness gate has no name, or one that is not allowed
host-alias-invalid: a host alias has no IP address
host-port-differs: with hostNetwork, hostPort is not containerPort
host-port-twice: two containers of a pod use the same port of the node
hostname-invalid: hostname or subdomain is not a DNS label
indexes-invalid: succeededIndexes is not a list of increasing indexes and intervals
indexes-too-long: succeededIndexes is too long
label-invalid: the key or value of a label is not allowed
label-selector-invalid: a label selector has an operator, a key or a value that is not allowed
limit-per-index-without-indexes: backoffLimitPerIndex needs an Indexed Job
managed-by-invalid: managedBy is not a domain and a path
max-failed-above-completions: maxFailedIndexes is above the number of indexes
max-failed-missing: maxFailedIndexes is required with so many indexes
max-failed-too-high: maxFailedIndexes is above the API's limit
max-failed-without-indexes: maxFailedIndexes needs an Indexed Job
max-failed-without-limit-per-index: maxFailedIndexes needs backoffLimitPerIndex
message-policy-unknown: terminationMessagePolicy does not exist
mount-option-invalid: an option of a mount or a device is not allowed with its volume, its container or another option
mount-path-twice: a container has two mounts at the same path
mount-sub-path-invalid: a subPath is not a relative path, or is given twice
mount-without-path: a mount has no mountPath
mount-without-volume: a mount names a volume that the pod template does not have
name-invalid: the name of the object is not allowed, or too long
name-missing: the object has no name
name-not-a-hostname: the pods of an Indexed Job cannot have host names of this length or form
namespace-invalid: no namespace can have the name
negative: a number is below 0
no-containers: the pod template has no container
no-exit-codes: onExitCodes has no values
no-requirement: a rule has neither onExitCodes nor onPodConditions
no-success-rules: successPolicy has no rules
node-selector-invalid: nodeSelector has a key or value that no label can have
not-readable: a document, or its kind or API version, cannot be read
operator-unknown: the operator of onExitCodes is neither In nor NotIn
owner-invalid: an ownerReference lacks a field, or names an Event
parallelism-too-high: parallelism is above the API's limit for Indexed Jobs
placeholder: a value contains text that nothing replaces; an error if the API server rejects it
pod-deadline-invalid: activeDeadlineSeconds of the pod template is below 1
port-invalid: a port is not between 1 and 65535
port-name-invalid: the name of a port is not allowed
port-name-twice: two ports of a container have the same name
privileged-without-escalation: a privileged container has allowPrivilegeEscalation false
probe-invalid: a probe or hook does nothing, several things, or has a number that is not allowed
probe-of-init-container: an init container that is not a sidecar has a probe or a lifecycle hook
process-namespaces: a pod has both shareProcessNamespace and hostPID
profile-invalid: the file of a seccomp or AppArmor profile does not fit its type
protocol-unknown: the protocol of a port is neither TCP, UDP nor SCTP
pull-policy-unknown: imagePullPolicy is neither Always, IfNotPresent nor Never
quantity-invalid: a quantity, such as of memory, cannot be read
reference-name-invalid: no object can have the name that a reference has
reference-without-name: a reference to an object has no name
replacement-unknown: podReplacementPolicy is neither Failed nor TerminatingOrFailed
replacement-with-failure-policy: podReplacementPolicy TerminatingOrFailed is not allowed with podFailurePolicy
request-above-limit: a container requests more than its limit
request-differs-from-limit: the request and the limit of a resource that nodes do not overcommit differ
request-without-limit: a resource that nodes do not overcommit is requested without a limit
resize-policy-invalid: a resize policy lacks a field, or has a value that is not allowed
resource-negative: a request or limit is below 0
resource-not-whole: a resource that cannot be divided is not a whole number
resource-unknown: containers have no such resource
restart-policy-always: the pods of a Job have restartPolicy Always
restart-policy-missing: the pod template has no restartPolicy
restart-policy-unknown: restartPolicy does not exist
restart-rule-invalid: a restart rule lacks a field, or has a value that is not allowed
rule-name-invalid: the name of a rule is not allowed
rule-names-annotation-invalid: the annotation with names of rules cannot be read
rule-names-disagree: names in the rules and in the annotation differ
schedule-invalid: the schedule cannot be read
schedule-missing: the CronJob has no schedule
schedule-never: the schedule never comes, such as on 31 February
scheduling-not-supported: the controller that managedBy names does not support spec.scheduling
seccomp-without-type: a seccompProfile has no type
selector-in-cronjob: the Jobs of a CronJob cannot choose their selector
selector-mismatch: the selector does not match the labels of the pod template
selector-missing: manualSelector needs a selector
selector-not-manual: without manualSelector, the selector can only be on labels that the API server sets
server-rejects: the API server rejects the object, for a reason that only --server finds
spread-invalid: a topology spread constraint lacks a field, repeats another one, or has a value that is not allowed
success-count-too-high: succeededCount is above the number of indexes that count
success-rule-empty: a rule of successPolicy specifies nothing
success-without-indexes: successPolicy needs an Indexed Job
sysctl-invalid: a sysctl has no name, or one that is not allowed
template-label-reserved: the API server sets this label of the pod template itself
template: the file is a template, and must be rendered first
time-zone-unknown: timeZone is not in the IANA time zone database
token-expiration-invalid: the token of a service account would expire too soon, or much too late
toleration-invalid: a toleration has an operator, a key, a value or an effect that is not allowed
too-many-conditions: a rule has too many conditions
too-many-exit-codes: a rule has too many exit codes
too-many-rules: podFailurePolicy has too many rules
too-many-success-rules: successPolicy has too many rules
two-requirements: a rule has both onExitCodes and onPodConditions
unknown-field: the API has no field of this name at this place
user-id-invalid: the ID of a user or group is not allowed
value-unknown: a field has a value that the API does not know
volume-incomplete: a volume lacks a field, or has one with a value that is not allowed
volume-name-invalid: the name of a volume is not a DNS label
volume-name-twice: two volumes have the same name
volume-of-two-types: a volume has two types
volume-without-name: a volume has no name
wrong-type: a value has another type than the API expects
`
