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
	// User is the runAsUser of the container, "" if the template has none. AlsoRoot are the other containers that ask for user 0 although
	// runAsNonRoot does not allow it.
	User     string
	AlsoRoot []string
	// Variables are the environment variables whose values the pod template has, and Sources the ConfigMaps and Secrets of envFrom.
	Variables []Variable
	Sources   []string
	// Arguments are the command and args of the pod template.
	Arguments []string
}

// Variable is an environment variable: it has a value, or From says where its value comes from.
type Variable struct{ Name, Value, From string }

// variable returns the variable of this name, nil if the template has none.
func (c *Container) variable(name string) *Variable {
	return lists.First(c.Variables, func(v *Variable) bool { return v.Name == name })
}

// placeOf says where the value of a variable is.
func (c *Container) placeOf(v *Variable) string {
	switch place := fmt.Sprintf("variable %s of container %s", v.Name, c.Name); {
	case v.From != "":
		return place + ", which comes from " + v.From
	case v.Value == "":
		return place + ", which is empty"
	default:
		return place
	}
}

// hasArgument reports whether the command or an argument is this word, or has it as an option or in a script.
func (c *Container) hasArgument(word string) bool {
	return slices.ContainsFunc(c.Arguments, func(argument string) bool {
		before, after, found := strings.Cut(argument, word)
		return found && !endsInWord(before) && !startsWithWord(after)
	})
}

// credential matches the names of variables that hold credentials.
var credential = lazyregexp.New(`(?i)PASS(?:WD|WORD|PHRASE)?(?:$|_)|PASSWORD|TOKEN|SECRET|API_?KEY|ACCESS_KEY|CREDENTIALS?|PRIVATE_KEY|DSN$|DATABASE_URL|CONNECTION_STRING`)

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

// credentialsText is credentials, or the places where there are none.
func (c *Container) credentialsText() string {
	return cmp.Or(c.credentials(), "container "+c.Name+" has none from a Secret in env or volumes")
}

// serverAddress matches the address of a server: a URL, or a host with a port.
var serverAddress = lazyregexp.New(`^(?:\w+://\S+|[\w.-]+:\d{2,5})$`)

// addresses names the variables and arguments that have addresses of servers; "" without any.
func (c *Container) addresses() string {
	var names []string
	for i := range c.Variables {
		if v := &c.Variables[i]; serverAddress.MatchString(v.Value) && len(names) < maxCredentials {
			names = append(names, fmt.Sprintf("variable %s of container %s", v.Name, c.Name))
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

// configurationText names where the program may have its configuration from.
func (c *Container) configurationText() string {
	return cmp.Or(wording.Join(" or ", c.fixedMounts(), wording.Enumerate(c.Sources[:min(len(c.Sources), maxSecrets)], "or")), c.argumentsText()+", or what the program loads")
}

// fixedMounts names the volumes that may have a configuration: ConfigMaps and Secrets.
func (c *Container) fixedMounts() string {
	var names []string
	for i := range c.Mounts {
		if m := &c.Mounts[i]; m.isFixed() && len(names) < maxSecrets {
			names = append(names, m.name()+" at "+m.Path)
		}
	}
	return wording.Enumerate(names, "or")
}

// variableWith returns the name of the variable that has a word in its value, "" if none has.
func (c *Container) variableWith(word string) string {
	const least = 2
	for _, v := range c.Variables {
		before, after, found := strings.Cut(v.Value, word)
		if found && len(word) >= least && !endsInWord(before) && !startsWithWord(after) {
			return v.Name
		}
	}
	return ""
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return isWord(r) || r == '-' || r == '_' || r == '.'
}

func startsWithWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWord(r) || r == '-' || r == '_' || r == '.'
}
