package meaning

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ErrorKind is the meaning of an error, whatever its source and wording.
type ErrorKind string

// The kinds of KnownError.
const (
	ErrorCommandNotFound ErrorKind = "CommandNotFound" // the command, or a script for it, does not exist in the container
	// ErrorInterpreterMissing means that the interpreter of the script that is the command does not exist in the container.
	ErrorInterpreterMissing ErrorKind = "InterpreterMissing"
	ErrorNotExecutable      ErrorKind = "NotExecutable"     // the command may not be executed
	ErrorWrongArchitecture  ErrorKind = "WrongArchitecture" // exec format error
	ErrorForeignFile        ErrorKind = "ForeignFile"       // a file that the program starts later is damaged, or for another architecture
	ErrorWorkingDirectory   ErrorKind = "WorkingDirectory"  // the working directory does not exist, or may not be entered
	ErrorReadOnly           ErrorKind = "ReadOnly"          // the file system is read-only
	ErrorPermission         ErrorKind = "PermissionDenied"  // permission on a file is denied
	ErrorOwnership          ErrorKind = "Ownership"         // the program may not change the owner of a file
	ErrorNoSpace            ErrorKind = "NoSpace"           // no space is left on a device
	ErrorSharedMemory       ErrorKind = "SharedMemory"      // no space is left in /dev/shm
	ErrorFileMissing        ErrorKind = "FileMissing"       // a file does not exist
	ErrorModuleMissing      ErrorKind = "ModuleMissing"     // the image lacks a module or library that the program loads
	ErrorNameResolution     ErrorKind = "NameResolution"    // a host name has no address
	ErrorConnectionRefused  ErrorKind = "ConnectionRefused"
	ErrorNoConnection       ErrorKind = "NoConnection"    // the program could not connect to a server, for a reason that it does not tell
	ErrorTimeout            ErrorKind = "Timeout"         // a server did not answer in time
	ErrorNoRoute            ErrorKind = "NoRoute"         // no route leads to a server
	ErrorCertificate        ErrorKind = "Certificate"     // the certificate of a server was not accepted
	ErrorAuthentication     ErrorKind = "Authentication"  // a server did not accept the credentials of the program
	ErrorSSHLogin           ErrorKind = "SSHLogin"        // an SSH server does not accept the key or password of the program
	ErrorSSHKey             ErrorKind = "SSHKey"          // SSH cannot read or use the private key of the program
	ErrorNoCredentials      ErrorKind = "NoCredentials"   // the program found no credentials for a cloud
	ErrorForbidden          ErrorKind = "Forbidden"       // the program lacks a permission of the API server or a cloud
	ErrorHostKey            ErrorKind = "HostKey"         // the SSH host key of a server is not the known one
	ErrorRateLimit          ErrorKind = "RateLimit"       // a service limits the requests of the program
	ErrorEarlierState       ErrorKind = "EarlierState"    // what an earlier run left is in the way of the program
	ErrorVariable           ErrorKind = "VariableMissing" // a variable that the program needs is not set
	ErrorSetting            ErrorKind = "SettingMissing"  // a setting that the program needs has no value
	ErrorRuntimeVersion     ErrorKind = "RuntimeVersion"  // the program needs a newer version of Java; the subject has its class, the version of that, and the newest one that is accepted
	ErrorObjectMissing      ErrorKind = "ObjectMissing"   // a database, a table, a role or a bucket does not exist
	ErrorServerRules        ErrorKind = "ServerRules"     // the rules of a server do not allow the connection of the program
	ErrorUsage              ErrorKind = "Usage"           // the program does not accept its arguments
	ErrorScript             ErrorKind = "Script"          // the shell cannot read the script
	ErrorWebhook            ErrorKind = "WebhookFails"    // the API server cannot call a webhook for a request of the program
	ErrorRefused            ErrorKind = "Refused"         // the API server refuses a request of the program for another reason
	ErrorOutOfMemory        ErrorKind = "OutOfMemory"     // the program could not allocate memory
	ErrorProcessKilled      ErrorKind = "ProcessKilled"   // a process of the program was killed by SIGKILL
	ErrorHeapSize           ErrorKind = "HeapSize"        // the program refuses the size of its heap
	ErrorProcessLimit       ErrorKind = "ProcessLimit"    // the program could start no more processes or threads
	ErrorOutOfGPUMemory     ErrorKind = "OutOfGPUMemory"  // the program could not allocate GPU memory
	ErrorNoGPU              ErrorKind = "NoGPU"           // the program found no GPU that it can use
	ErrorCollective         ErrorKind = "Collective"      // the program lost contact with the other workers
	ErrorBus                ErrorKind = "BusError"        // a program was ended by SIGBUS
	ErrorOtherRoot          ErrorKind = "OtherRoot"       // chroot or nsenter does not find a command in the file system that it changes to
	ErrorLibraryVersion     ErrorKind = "LibraryVersion"  // the program needs a newer C library, or one of C++; the subject has its version, and the program if it is known
	ErrorClientVersion      ErrorKind = "ClientVersion"   // the server has another version; the subject has that, the program, and its version
	ErrorModelMissing       ErrorKind = "ModelMissing"    // Hugging Face has no model or data set of a name, or does not show it to the program: it answers alike
)

// KnownError is an error with a known meaning, reported by a program, a shell, a container runtime or the kubelet. It is
// comparable.
type KnownError struct {
	Kind ErrorKind `json:"kind"`
	// Subject is the command, file, module, host name, address or request that the message names, or its detail for the other
	// kinds; "" if it names none.
	Subject string `json:"subject,omitempty"`
	// Access is the request that the API server denied, the zero value for other errors.
	Access Access `json:"access,omitzero"`
	// APIServer is set if the program could not reach the API server.
	APIServer bool `json:"apiServer,omitempty"`
	// Leftover is the object that the program could not create because it exists, the zero value for other errors.
	Leftover Leftover `json:"leftover,omitzero"`
	// Reason is why the API server refuses a request, without the object that it is about.
	Reason string `json:"reason,omitempty"`
}

// errorRow is one kind of error.
type errorRow struct {
	kind     ErrorKind
	patterns []errorPattern
	// yieldsTo are the kinds of lines that match this row, too.
	yieldsTo []ErrorKind
	// casual reports whether programs report such an error and go on, too: it only counts in one of the last lines.
	casual bool
	// isLate reports whether such an error usually follows from another one, which the program reported before.
	isLate bool
	// leads are the kinds of errors that follow from this one in later lines.
	leads []ErrorKind
	// read sets more fields of the error from its line; nil if there are no more.
	read func(e *KnownError, line string)
	// subject finds the subject of an error in its line if the pattern has none; nil if there is no other.
	subject *lazyregexp.Regexp
	// answer finds the words of the server in one of the lines after the error; nil if there are none.
	answer *lazyregexp.Regexp
	// brief has two or three words. text is the meaning, for the end of a sentence. In text and advice, {a|b} is a, with the subject in
	// place of %s, if the error has one, and otherwise b; advice may have {container}, {image}, and {sources} of its environment.
	brief, text, advice string
	// describe replaces text, and advise replaces advice, where they depend on more.
	describe func(subject string) string
	advise   func(*KnownError, Container) string
}

// errorPattern matches a line that reports a KnownError.
type errorPattern struct {
	// hint has texts, separated by a bar, of which the lower-case form of each matching line has one, so that most lines need no regular expression.
	hint string
	// line has groups for the subject; the matching ones are joined with a colon.
	line *lazyregexp.Regexp
	// codes are the exit codes to which the pattern is limited; nil for all.
	codes []int32
}

// shell holds the exit codes of a shell for a command that it cannot execute, and for one that it does not find.
var shell = []int32{126, 127}

// OfExit returns the error that the exit code of a shell stands for; nil for other exit codes.
func OfExit(code int32) *KnownError {
	if kind := map[int32]ErrorKind{126: ErrorNotExecutable, 127: ErrorCommandNotFound}[code]; kind != "" {
		return &KnownError{Kind: kind}
	}
	return nil
}

// startErrors are errors of a container runtime or a shell that cannot execute the command: runc, crun and shells.
var startErrors = []errorRow{
	{
		kind: ErrorCommandNotFound, brief: "command not found",
		patterns: []errorPattern{
			{"executable file", lazyregexp.New("(?i)exec: \\\\*\"([^\"\\\\]+)\\\\*\": executable file not found|executable file `([^`]+)` not found|unable to find the specified executable file"), nil},
			{"no such file", lazyregexp.New(`(?i)\bexec: \\*"([^"\\]+)\\*": (?:stat .+: )?no such file or directory|cannot run program "([^"]+)".*: error=2,`), nil},
			{"command not found", lazyregexp.New(`(?i)([^\s:]+): command not found(?:[^:]|$)|\bcommand not found: (\S+)`), nil},
			{"not found|no such file", lazyregexp.New(`(?i)^\S+: (?:line )?(?:\d+: )?(?:exec: )?([^\s:'"‘]+): (?:not found|no such file or directory)$`), shell},
			{"bad interpreter", lazyregexp.New(`(?i)([^\s:]+): bad interpreter: no such file`), shell},
			{"no such file", lazyregexp.New(`(?i)\[dumb-init\] ([^\s:]+): no such file|\[FATAL tini \(\d+\)\] exec ([^\s:/]+) failed: no such file`), nil},
			{"no such file", lazyregexp.New(`(?i)\b(?:env|timeout|nohup|nice|xargs|tini|gosu|su-exec): (?:can't execute |failed to run command )?['‘"]?([^\s'’":]+)['’"]?: no such file`), shell},
			{"not found", lazyregexp.New(`(?:^|[\s'"‘])((?:/[\w.-]+)*/s?bin/[\w.+-]+)['"’]? (?:is |was )?not found\.?$`), nil},
			{"open", lazyregexp.New(`(?i)(?:sh|python[\d.]*|perl|ruby|php|node): (?:(?:line )?\d+: )?(?:can't|cannot) open (?:file )?['‘"]?([^\s'’":]+)['’"]?: (?:\[errno 2\] )?no such file`), []int32{2, 127}},
		},
		answer:   lazyregexp.New(`^Executable: +(\S+)`), // of Open MPI
		yieldsTo: []ErrorKind{ErrorAppArmorParser},      // It is a program of the node.
		describe: notFoundText,
		advise:   notFoundAdvice,
	},
	{
		kind: ErrorInterpreterMissing, brief: "interpreter not found",
		patterns: []errorPattern{
			{"no such file", lazyregexp.New(`(?i:\bexec user process caused:? "?no such file or directory)|(?i:\bexec (/\S+) failed: no such file or directory)`), nil},
			{"no such file", lazyregexp.New("(?i)\\bexec(?: container process)?(?: \\(missing dynamic library\\?\\))? [`\"]?(/[^\\s:`\"]+)[`\"]?: no such file or directory"), nil},
		},
		text:   "{%s, or the loader or interpreter that it needs, does not exist in the container|it cannot be run: the interpreter of its script (as with CRLF line ends) or the loader of its program is missing}",
		advise: loaderAdvice,
	},
	{
		kind: ErrorNotExecutable, brief: "not executable",
		patterns: []errorPattern{
			{"permission denied", lazyregexp.New("(?i)\\bexec: \\\\*\"([^\"\\\\]+)\\\\*\": (?:stat .+: )?permission denied|\\bexec(?: container process)? [`\"]?(/[^\\s:`\"]+)[`\"]?(?: failed)?: permission denied|\\bexec user process caused:? \"?permission denied"), nil},
			{"permission denied", lazyregexp.New(`(?i)^\S+: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): permission denied$`), shell},
		},
		text: "{%s|its command} may not be executed (permission denied)",
		advise: func(e *KnownError, c Container) string {
			if e.Subject == "" {
				return fmt.Sprintf("make the command of container %s executable for the container's user and the node's architecture (image %s)", c.Name, c.Image)
			}
			where := "chmod +x in image " + c.Image
			switch m := mountOf(e.Subject, c.Mounts); {
			case m != nil:
				where = m.executable()
			case c.fixedMounts() != "":
				where += ", or defaultMode: 0755 of the ConfigMap or Secret volume that has it"
			case path.Ext(e.Subject) == ".sh":
				where += ", or call it with its shell (sh " + e.Subject + ")"
			default:
				where += ", or an image or a user (runAsUser) that may execute it; if its mode allows that, the node forbids it: SELinux, or noexec for a VOLUME of the image"
			}
			return fmt.Sprintf("make %s executable for the container's user: %s", wording.Shorten(e.Subject, maxDetail), where)
		},
	},
	{
		kind: ErrorWrongArchitecture, brief: "wrong architecture",
		patterns: []errorPattern{
			{"exec format error", lazyregexp.New("(?i)\\bexec:? (?:container process )?[`\"]?(/[^\\s:`\"]+)[`\"]?: exec format error|\\bexec user process caused: exec format error|([^\\s:]+): exec format error|exec format error"), nil},
			{"ld-linux", lazyregexp.New(`(?i)(?:qemu|rosetta)\S* .*ld-linux`), nil},
		},
		yieldsTo: []ErrorKind{ErrorForeignFile},
		describe: wrongArchitectureText,
		advice:   "use an image of container {container} for the architecture of the node, or run its pods on nodes of the image's architecture (nodeSelector kubernetes.io/arch); the image is {image}",
	},
	{
		kind: ErrorForeignFile, brief: "foreign file",
		patterns: []errorPattern{
			{"exec format error", lazyregexp.New(`(?i)\bfork/exec (\S+): exec format|\[errno 8\] exec format error: '([^']+)'|cannot run program "([^"]+)".*: (?:error=8, )?exec format|^\S*sh: (?:line )?(?:\d+: )?([^\s:]+): (?:cannot execute binary file: )?exec format`), nil},
			{"spawn", lazyregexp.New(`\bspawn (?:(\S+) )?(?:Unknown system error -8|ENOEXEC)`), nil}, // Node.js
			{"cannot execute binary file", lazyregexp.New(`(?i)([^\s:]+): cannot execute binary file`), shell},
		},
		text: "exec format error: {%s|a file that it starts} is damaged, or for another architecture than the node",
		advise: func(e *KnownError, c Container) string {
			where := cmp.Or(prefixed("in ", mountOf(e.Subject, c.Mounts).place(c)), "where the program downloads it, or in image "+c.Image)
			return e.fill("replace {%s|that file} by a whole one for the architecture of the node, " + where + "; a script needs a #! line")
		},
	},
	{
		kind: ErrorWorkingDirectory, brief: "no working dir",
		patterns: []errorPattern{
			{"chdir to cwd", lazyregexp.New(`(?i)chdir to cwd \("([^"]+)"\)`), nil},
			{"chdir `", lazyregexp.New("chdir `([^`]+)`: "), nil},
		},
		text:   "its working directory {%s |}does not exist, or it may not enter it",
		advice: "correct workingDir of the container, or create {%s|that directory} in its image for the container's user",
	},
}

// programErrors are errors of libc in several languages, and of common clients.
var programErrors = slices.Concat(fileErrors, networkErrors, accessErrors, stateErrors, resourceErrors)

func (e *KnownError) row() *errorRow {
	for _, rows := range [][]errorRow{startErrors, setupErrors, programErrors} {
		if r := lists.First(rows, func(r *errorRow) bool { return r.kind == e.Kind }); r != nil {
			return r
		}
	}
	return &errorRow{}
}

// Brief returns the error in two or three words.
func (e *KnownError) Brief() string { return e.row().brief }

// Text returns the meaning of the error, for the end of a sentence.
func (e *KnownError) Text() string {
	r := e.row()
	if r.describe != nil {
		return r.describe(wording.Shorten(e.Subject, maxDetail))
	}
	server, named := "a server", *e
	if e.APIServer {
		server = "the API server"
	}
	if e.APIServer && address.MatchString(e.Subject) && !ownPod.MatchString(e.Subject) {
		named.Subject = server + " (" + e.Subject + ")"
	}
	return named.fill(wording.Insert(r.text, "{server}", server))
}

// namedObject matches the database or role that does not exist, which a variable or an argument may name.
var namedObject = lazyregexp.New(`^(?:(?:database|role|user)|Unknown database) ["']([\w.-]+)["']`)

// Advice returns advice on the error, with the variable that the program has its subject from.
func (e *KnownError) Advice(c Container) string {
	text := e.advice(c)
	if e.Kind == ErrorNameResolution && noHost.MatchString(e.Subject) || strings.HasPrefix(text, "{recreate}") {
		return text
	}
	host, _, _ := strings.Cut(e.Host(), ":")
	if m := namedObject.Group(e.Subject); m != "" {
		host = m
	}
	place, _ := c.origin(e.Subject)
	if place == "" {
		place, _ = c.origin(host)
	}
	head, _, _ := strings.Cut(place, " of container ")
	isArgument := !strings.HasPrefix(place, "variable ")
	if place != "" && !strings.Contains(text, head) && (!isArgument || slices.Contains(ofArguments, e.Kind) && !strings.Contains(text, "command")) {
		text += "; the program has it from " + place
	}
	return text
}

func (e *KnownError) advice(c Container) string {
	r := e.row()
	if r.advise != nil {
		return r.advise(e, c)
	}
	return e.fill(wording.Insert(r.advice, "{container}", c.Name, "{image}", cmp.Or(c.Image, "its image"), "{sources}", c.sourcesText()))
}

// alternatives matches what a template has for an error with a subject, and for one without.
var alternatives = lazyregexp.New(`\{([^{}|]*)\|([^{}]*)\}`)

// fill replaces the alternatives in a template.
func (e *KnownError) fill(template string) string {
	if e.Subject == "" {
		return alternatives.ReplaceAllString(template, "$2")
	}
	return strings.ReplaceAll(alternatives.ReplaceAllString(template, "$1"), "%s", wording.Shorten(e.Subject, maxDetail))
}
