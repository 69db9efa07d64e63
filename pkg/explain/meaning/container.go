package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Container holds what advice on an error in a container depends on.
type Container struct {
	Name, Image string
	// ReadOnlyRoot reports whether the container has readOnlyRootFilesystem, SharedMemory whether it has a volume at /dev/shm.
	ReadOnlyRoot, SharedMemory bool
	// HostNetwork and NodeDNS report whether the pod is on the host network, and whether it uses the DNS of its node.
	HostNetwork, NodeDNS bool
	// MemoryLimit is the memory limit of the container, "" for none.
	MemoryLimit string
	// Secrets are the names of the Secrets that the container uses, and Mounts its volumes. Account is the ServiceAccount of the pod.
	Secrets []string
	Mounts  []Mount
	Account string
	// NoToken reports whether the pod template keeps the token of the ServiceAccount out of the pod.
	NoToken bool
	// Namespace is the namespace of the pod, and CronJob the one that created the Job, "" for none. Labels has the labels of the pod template.
	Namespace, CronJob string
	Labels             map[string]string
	// User is the runAsUser of the container, and FSGroup the fsGroup of the pod, "" if the template has none.
	User    string
	FSGroup string
	// Variables are the environment variables whose values the pod template has, and Sources the ConfigMaps and Secrets of envFrom.
	Variables []Variable
	Sources   []string
	// Arguments are the command and args of the pod template, and Servers what its command and those of init containers ask for. Beside names the
	// other containers of the template that run at the same time.
	Arguments, Servers, Beside []string
	// object is what the error is about in a cloud, and trust how its program trusts a CA, "" if that is unknown.
	object, trust string
	// Hosts is how the pods of the Job are named in DNS.
	Hosts Hosts
	// Devices are the devices in its limits, such as "nvidia.com/gpu: 1", and Node is the node of its pod, "" if it is unknown.
	Devices []string
	Node    string
}

// Variable is an environment variable: it has a value, or From says where its value comes from.
type Variable struct{ Name, Value, From string }

// variable returns the variable of this name, nil if the template has none.
func (c *Container) variable(name string) *Variable {
	return lists.First(c.Variables, func(v *Variable) bool { return v.Name == name })
}

// valueOr returns the value of the variable of this name, or a placeholder.
func valueOr(c *Container, name, placeholder string) string {
	return cmp.Or(cmp.Or(c.variable(name), &Variable{}).Value, placeholder)
}

// placeOf says where the value of a variable is.
func (c *Container) placeOf(v *Variable) string {
	switch place := fmt.Sprintf("variable %s of container %s", v.Name, c.Name); {
	case v.From != "":
		return place + ", which comes from " + v.From
	case v.Value == "":
		return place + ", which is empty"
	case credential.MatchString(v.Name), confidential.MatchString(v.Value), len(v.Value) > maxCommand:
		return place
	default:
		return place + ", which is " + wording.Quoted(plainAddress(v.Value))
	}
}

// credential matches the names of variables that hold credentials.
var credential = lazyregexp.New(`(?i)PASS(?:WD|WORD|PHRASE)?(?:$|_)|PASSWORD|TOKEN|SECRET|API_?KEY|ACCESS_KEY|CREDENTIALS?|(?:PRIVATE|MASTER|ENCRYPTION|FERNET)_KEY|DSN$|DATABASE_URL|CONNECTION_?STRING`)

// credentials names the variables that may have the credentials of the container, or else the Secrets that it uses; "" without any.
func (c *Container) credentials() string {
	var names []string
	for i := range c.Variables {
		if v := &c.Variables[i]; credential.MatchString(v.Name) && len(names) < maxCredentials {
			names = append(names, v.Name+wording.InBrackets(v.From))
		}
	}
	if len(names) > 0 {
		return wording.Form(len(names), "variable ", "variables ") + wording.Enumerate(names, "and") + " of container " + c.Name
	}
	return secretsText(*c)
}

// userText is the user of the container in brackets, "" if the template has none.
func (c *Container) userText() string {
	return wording.InBrackets(prefixed("runAsUser ", c.User))
}

// credentialsText is credentials, or the places where there are none.
func (c *Container) credentialsText() string {
	return cmp.Or(c.credentials(), "container "+c.Name+" has none from a Secret in env or volumes")
}

// namespaceOption matches the option of kubectl and Helm for a namespace.
var namespaceOption = lazyregexp.New(`(?:\s-n|--namespace)[= ]["']?([a-z0-9-]+)`)

// serverAddress matches the address of a server: a URL, or a host with a port.
var serverAddress = lazyregexp.New(`^["']?(?:\w+://\S+|[\w.-]+:\d{2,5}|[\w.@-]+:\S+\.git)$`)

// addressName matches the names of variables that hold addresses.
var addressName = lazyregexp.New(`(?:^|_)(?:UR[IL]|HOST|ENDPOINT|ADDR(?:ESS)?)$`)

// addresses names the variables and arguments that have addresses of servers; "" without any.
func (c *Container) addresses() string {
	var names []string
	for i := range c.Variables {
		if v := &c.Variables[i]; (serverAddress.MatchString(v.Value) || v.From != "" && addressName.MatchString(v.Name)) && len(names) < maxCredentials {
			names = append(names, fmt.Sprintf("variable %s%s of container %s", v.Name, wording.InBrackets(v.From), c.Name))
		}
	}
	for _, argument := range c.Arguments {
		if serverAddress.MatchString(argument) && len(names) < maxCredentials {
			names = append(names, fmt.Sprintf("argument %s of container %s", wording.Shorten(argument, maxDetail), c.Name))
		}
	}
	return wording.Enumerate(names, "and")
}

// maxCredentials is the maximum number of variables that advice names.
const maxCredentials = 2

// argumentsText names where the program has its arguments from.
func (c *Container) argumentsText() string {
	if len(c.Arguments) == 0 {
		return "image " + c.Image
	}
	return "the command and env of container " + c.Name
}

// pathIn matches paths in an argument.
var pathIn = lazyregexp.New(`(?:^|[\s=<'"])(/[^\s'"=;|&]+)`)

// givenInputs names the files in volumes that the command of the container names, or else its configuration; "" without both.
func (c *Container) givenInputs() string {
	var names []string
	for _, argument := range c.Arguments {
		for _, m := range pathIn.FindAllStringSubmatch(argument, -1) {
			if in := mountOf(m[1], c.Mounts); in != nil && len(names) < maxCredentials {
				names = append(names, m[1]+" in "+in.name())
			}
		}
	}
	return cmp.Or(wording.Enumerate(names, "and"), c.givenConfiguration())
}

// lastingMounts names the volumes of the container that outlive its pod; "" without one.
func (c *Container) lastingMounts() string {
	isLasting := func(m *Mount) bool { return strings.HasPrefix(m.Kind, "claim ") || m.Directory != "" }
	return wording.Enumerate(c.mountsThat(isLasting, "%[2]s is %[1]s"), "and")
}

// mountsThat returns the volumes that satisfy a condition, each in a format with its name and path.
func (c *Container) mountsThat(holds func(*Mount) bool, format string) (names []string) {
	for i := range c.Mounts {
		if m := &c.Mounts[i]; holds(m) {
			names = append(names, fmt.Sprintf(format, m.name(), m.Path))
		}
	}
	return names
}

func (c *Container) givenConfiguration() string {
	return wording.Join(" or ", c.fixedMounts(), wording.Enumerate(c.Sources[:min(len(c.Sources), maxSecrets)], "or"))
}

// configurationText names where the program may have its configuration from.
func (c *Container) configurationText() string {
	return cmp.Or(c.givenConfiguration(), c.argumentsText()+", or what the program loads")
}

// valuesText names where the values of a chart come from: the helm-controller of K3s has them from objects.
func (c *Container) valuesText() string {
	if chart := c.variable("NAME"); chart != nil && strings.Contains(c.Image, "klipper-helm") {
		return fmt.Sprintf("spec.valuesContent of HelmChart %[1]s or HelmChartConfig %[1]s", chart.Value)
	}
	return cmp.Or(c.fixedMounts(), c.argumentsText())
}

// initialization says how the repository of a backup tool is initialized: Velero does that itself, as long as it keeps no BackupRepository.
func initialization(c *Container) string {
	if strings.Contains(c.Name+c.Image, "velero") {
		return "delete the BackupRepository of this repository in Velero's namespace (kubectl get backuprepositories), so that Velero initializes it again, if its data were deleted from the bucket"
	}
	return "initialize the repository with the program first, in the same container where it keeps its connection (kopia repository connect)"
}

// fixedMounts names the volumes that may have a configuration: ConfigMaps and Secrets.
func (c *Container) fixedMounts() string {
	names := c.mountsThat((*Mount).isFixed, "%s at %s")
	return wording.Enumerate(names[:min(len(names), maxSecrets)], "or")
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return isWord(r) || r == '-' || r == '_' || r == '.'
}

func startsWithWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWord(r) || r == '-' || r == '_' || r == '.'
}

var (
	// silencers match what keeps the output of programs out of a log.
	silencers = lazyregexp.New(`((?:2|&)?>>? ?/dev/null)\b|(?:^|\s)(--quiet|--silent)\b|\b(?:curl|wget)\b[^|;&\n]*? (-[a-zA-Z]*[sq][a-zA-Z]*)(?:\s|$)`)
	// errexitFlag matches the flags of a shell, and errexit the commands in a script, with which it ends at the first command that fails.
	errexitFlag = lazyregexp.New(`^-[a-z]{0,3}e[a-z]{0,3}$`)
	errexit     = lazyregexp.New(`\bset -(?:[a-z]*e|o errexit)`)
	// hidings match the end of a script that exits with 0 whatever its programs do.
	hidings = lazyregexp.New(`(\|\| ?(?:true|:|exit 0|echo\b[^;|&\n]*))[\s;]*$|[;\n] *(exit 0|true|echo\b[^;|&\n]*)[\s;]*$|[^|](\| ?(?:tee|ts|cat)\b[^;|&\n]*)[\s;]*$|[^&](&\s+wait)[\s;]*$`)
)

// endsAtError reports whether the container's script ends at the first command that fails.
func (c *Container) endsAtError() bool {
	last := len(c.Arguments) - 1
	return last > 0 && strings.HasSuffix(c.Arguments[0], "sh") && (slices.ContainsFunc(c.Arguments[:last], errexitFlag.MatchString) || errexit.MatchString(c.Arguments[last]))
}

// HidesExit returns the end of the container's script that hides the exit code of its programs, such as "|| true"; "" if it hides none.
func (c *Container) HidesExit() string {
	if len(c.Arguments) == 0 {
		return ""
	}
	script := c.Arguments[len(c.Arguments)-1]
	end := strings.TrimSpace(hidings.Group(script))
	isOr, isPipe := strings.HasPrefix(end, "||"), strings.HasPrefix(end, "|")
	if strings.HasPrefix(end, "&") { // A wait for all processes in the background succeeds.
		return strings.Join(strings.Fields(end), " ")
	}
	if !isOr && isPipe && strings.Contains(script, "pipefail") || !isPipe && c.endsAtError() {
		return "" // Only a success comes so far.
	}
	return wording.Cut(end, maxCommand)
}

var (
	// handled matches what a script does about the failure of a command, and commandError the error of a command that it calls.
	handled      = lazyregexp.New(`\|\||&&|\b(?:if|while|until|for|case|trap)\b|\$\?|set \+e|exit \$`)
	commandError = lazyregexp.New(`^([a-z][\w.-]*): .*\b(?i:error|fatal|failed|denied|refused)\b`)
)

// ErrorPassed returns the last error in a log if a command of the container's script reported it, and the script continues after any
// error; otherwise "".
func (c *Container) ErrorPassed(lines []string) string {
	last := len(c.Arguments) - 1
	if last < 1 || !isShell(c.Arguments[0]) || c.endsAtError() || handled.MatchString(c.Arguments[last]) {
		return ""
	}
	words := ErrorIn(lines)
	if command := commandError.Group(words); command == "" || utility.MatchString(words) || !c.hasArgument(command) {
		return ""
	}
	return words
}

// curlFails matches the options with which curl fails if a server answers with an error.
var curlFails = lazyregexp.New(`\s(?:--fail\S*|-\w*f\w*)(?:\s|$)`)

// EndAdvice returns how the command of a container that succeeded fails with the error in these words; "" if that is unknown.
func (c *Container) EndAdvice(words string) string {
	script, curl := strings.Join(c.Arguments, " "), c.command("curl")
	program := strings.Replace(programName.Group(words), "mariadb-dump", "mysqldump", 1)
	if !strings.Contains(script, program) || program == "" {
		program = piped.Group(script)
	}
	_, rest, _ := strings.Cut(script, program)
	switch {
	case program == "psql" && !strings.Contains(script, "ON_ERROR_STOP"):
		return fmt.Sprintf("have psql in container %s end at its first error (psql -v ON_ERROR_STOP=1): the Job then fails when its work does", c.Name)
	case curl != "" && !curlFails.MatchString(curl) && httpError.MatchString(words):
		return fmt.Sprintf("have curl in container %s fail if a server answers with an error (curl --fail-with-body): the Job then fails when its work does", c.Name)
	case program != "" && pipe.MatchString(rest) && !strings.Contains(script, "pipefail"):
		return fmt.Sprintf("have the script of container %s end with the exit code of %s, which its pipe drops (set -o pipefail in bash): the Job then fails when its work does", c.Name, program)
	}
	return ""
}

var (
	// programName matches the name of a program before its message, pipe the rest of a command before a pipe, and httpError an answer of a server.
	programName = lazyregexp.New(`^([a-z][\w.-]*):`)
	pipe        = lazyregexp.New(`^[^\n;&|]*\|[^|]`)
	httpError   = lazyregexp.New(`^[45]\d\d\b`)
	// piped matches the first command of a line with a pipe.
	piped = lazyregexp.New(`(?:-c |[;&\n(]\s*)([a-z][\w.-]*) [^\n;&|]*\|[^|]`)
)

// makers are commands that install or fetch what the rest of a script needs, with the lines in which they report an error.
var makers = []struct {
	command  string
	installs bool
	line     *lazyregexp.Regexp
}{
	{"pip", true, lazyregexp.New(`^ERROR: (?:Could not|No matching|Failed|Invalid)`)}, {"apk", true, lazyregexp.New(`^ERROR: `)}, {"apt", true, lazyregexp.New(`^E: `)}, {"npm", true, lazyregexp.New(`^npm (?:ERR!|error) \w`)},
	{"curl", false, lazyregexp.New(`^curl: \(`)}, {"wget", false, lazyregexp.New(`^wget: |ERROR \d{3}: `)}, {"git", false, lazyregexp.New(`^fatal: `)}, {"aws", false, lazyregexp.New(`^fatal error: |An error occurred \(`)},
}

// absences are the kinds of errors about what an earlier command should have made.
var absences = []ErrorKind{ErrorCommandNotFound, ErrorFileMissing, ErrorModuleMissing, ErrorAuthentication}

// WithoutConsequences returns the lines of a log up to the error of a command, if the container's script went on after that, and ended for
// lack of what the command should have made; otherwise all lines.
func (c *Container) WithoutConsequences(code int32, lines []string) []string {
	last := len(c.Arguments) - 1
	if last < 1 || !isShell(c.Arguments[0]) || c.endsAtError() {
		return lines
	}
	known, at := locate(code, lines)
	for i := at - 1; i >= 0 && slices.Contains(absences, known.Kind); i-- {
		isFetched := known.Kind == ErrorFileMissing || known.Kind == ErrorAuthentication || strings.Contains(known.Subject, "/")
		for _, maker := range makers {
			if maker.installs != isFetched && maker.line.MatchString(lines[i]) && strings.Contains(c.Arguments[last], maker.command) {
				return lines[:i+1]
			}
		}
	}
	return lines
}

// SilenceAdvice returns advice on what keeps errors out of the log of a container, "" if its command has nothing like that.
func (c *Container) SilenceAdvice() string {
	script, hide := strings.Join(c.Arguments, " "), []string(nil)
	for _, m := range silencers.FindAllStringSubmatch(script, -1) {
		if what := m[1] + m[2] + m[3]; !slices.Contains(hide, what) && !strings.Contains(m[3], "S") { // curl -S prints errors.
			hide = append(hide, what)
		}
	}
	var all []string
	if len(hide) > 0 {
		all = append(all, fmt.Sprintf("leave out what hides output in the command of container %s (%s)", c.Name, wording.Enumerate(hide, "and")))
	}
	if c.endsAtError() {
		all = append(all, "add set -x to its script, which then prints each command: its shell ends at the first one that fails (set -e)")
	}
	return strings.Join(all, ", and ")
}
