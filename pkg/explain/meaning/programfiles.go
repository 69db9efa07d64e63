package meaning

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// pathInLine finds a path in the line of an error.
var pathInLine = lazyregexp.New(`(?:^|[\s'"‘(=])(/[^\s'"’:,);]+)`)

// fileErrors are errors about files, and about modules that a program loads.
var fileErrors = []errorRow{
	{
		kind:     ErrorReadOnly,
		patterns: []errorPattern{{"read-only file", lazyregexp.New(`(?i)read-only file ?system`), nil}},
		subject:  pathInLine,
		brief:    "read-only files",
		text:     "{%s is on|it wrote to} a read-only file system",
		advise:   writableAdvice,
	},
	{
		kind: ErrorNoSpace,
		patterns: []errorPattern{
			{"no space left on device|disk quota exceeded|enospc|got errno 28", lazyregexp.New(`(?i) to ['‘](/[^'’]+)['’]: no space left|no space left on device|disk quota exceeded|\bENOSPC(?:: no space|$|[^:\w'"])|\bGot errno 28\b`), nil},
		},
		yieldsTo: []ErrorKind{ErrorSharedMemory},
		subject:  pathInLine,
		answer:   lazyregexp.New(`^\S+: (?:error: )?(\S+ failed on .+?)(?:, exiting)?$`),
		brief:    "no space left",
		describe: spaceText,
		advise:   spaceAdvice,
	},
	{
		kind: ErrorSharedMemory,
		patterns: []errorPattern{
			{"workers are out of shared memory|reating shared memory segment|ould not resize shared memory segment|insufficient shared memory (shm)|ora-00845: memory_target not supported on this system|) is killed by signal: |session deleted because of page crash", lazyregexp.New(`workers are out of shared memory|creating shared memory segment|could not resize shared memory segment|insufficient shared memory \(shm\)|(ORA-00845: MEMORY_TARGET not supported on this system)|DataLoader worker \(pid.*\) is killed by signal: (Bus error)|(session deleted because of page crash)`), nil}, // PyTorch, Chrome
			{"/dev/shm", lazyregexp.New(`(?i)/dev/shm\b.*no space left on device`), nil},
		},
		brief: "shared memory full",
		text:  "{%s, usually because |}its shared memory (/dev/shm) is full",
		advise: func(_ *KnownError, c Container) string {
			if c.SharedMemory {
				return fmt.Sprintf("raise the sizeLimit of the volume that container %s has at /dev/shm, or make the program use less shared memory (such as fewer workers)", c.Name)
			}
			return fmt.Sprintf("mount an emptyDir with medium: Memory at /dev/shm of container %s: without a volume, it has 64 MiB there", c.Name)
		},
	},
	{
		kind: ErrorPermission,
		patterns: []errorPattern{
			{"open stream", lazyregexp.New(`[("](/[^")\s]+)[")].*(?i:failed to open stream: permission denied)`), nil}, // PHP
			{"permission denied", lazyregexp.New(`(?i)\bpermission denied[:,] (?:\w+ )?['"]([^'"]+)['"]|['"‘]([^'"’\s]+)['"’]\)?:? \(?(?:\(?13\)?:? )?permission denied(?:$|[^\w ]| [^f])|(/[^\s:]+): connect: permission denied|\b(?:open|l?stat|read\w*|chdir|mkdir|create|unlink) ([^\s:'"]+): permission denied|(?:^|[\s'"‘(=])([^\s'"’:(@]*[./_][^\s'"’:(@]*)['"’)]?(?::| \() ?(?:\(?13\)?:? )?permission denied(?:$|[^\w ]| [^f])`), nil},
			{"permission", lazyregexp.New(`(?i)\[errno 13\] permission denied|kind: permissiondenied|eacces: permission denied|\(13: permission denied\)`), nil},
			{"accessdeniedexception: |access to the path '|should be fully accessible", lazyregexp.New(`\bAccessDeniedException: (/\S+)|Access to the path '([^']+)' is denied|should be fully accessible[^:/]*: (/[^\s'"]*[^\s'".])`), nil}, // Jenkins
		},
		yieldsTo: []ErrorKind{ErrorSSHLogin},
		subject:  pathInLine,
		brief:    "permission denied",
		text:     "permission denied{ for %s|}",
		advise:   accessAdvice,
	},
	{
		kind:     ErrorOwnership,
		casual:   true,
		patterns: []errorPattern{{"not permitted", lazyregexp.New(`(?i)\b(?:(?:f?l?ch)?(?:own|grp)|group)\w*\b[^'"/]*[ '"](/?[^\s:'"]+)['"]?(?: failed)?: operation not permitted`), nil}},
		brief:    "chown not permitted",
		text:     "it is not permitted to change the owner of {%s|a file}",
		advise:   ownershipAdvice,
	},
	{
		kind: ErrorFileMissing,
		patterns: []errorPattern{
			{"open stream", lazyregexp.New(`[("](/[^")\s]+)[")].*(?i:failed to open stream: no such file)`), nil}, // PHP
			{"the application '|nosuchfileexception: |could not |unable to access jarfile | exist|repo id must |can't | failed: no such file|failed to open snakefile: |found at expected path |modulespecifier | not found", lazyregexp.New(`The application '([^']+)' does not exist|\bNoSuchFileException: (\S+)|Could not (?:find (?:file|a part of the path) '([^']+)'|open input file: (\S+))|Unable to access jarfile (\S+)|\b(?:[fF]ile|[dD]irectory|[pP]ath) ["']?([^\s"']+)["']? (?:does not|doesn't) exist(?:[^,]|$)|\b(?:[fF]ile|[dD]irectory|[pP]ath) ["']?(/[^\s"':]+)["']? (?:was |is |could )?not (?:be )?found[.!]?$|\b(?:[fF]ile|[dD]irectory|[pP]ath) (?:was |is )?not found:? (?:at |in )?["']?([^\s"':,]*/[^\s"':,]+)["']?(?:[^,(\w ]|$)|Repo id must .*: '(/[^']+)'|can't (?:open file '([^']+)': \[Errno 2\]|cd to ([^\s:]+)(?:: No such file.*)?$)|link_stat "([^"]+)" failed: No such file|Failed to open Snakefile: (\S+)|found at expected path (\S+)|moduleSpecifier \\*"([^"\\]+)`), nil}, // .NET, Hugging Face takes a folder that does not exist for a name., pytest, dbt, k6
			{"no such file|file does not exist", lazyregexp.New(`(?i)\bno such file or directory[:,] (?:\w+ )?['"]([^'"]+)['"]|['"‘]([^'’"]+)['’"]\)?: (?:cannot open: )?no such file|\b(?:open|l?stat|read\w*|chdir) ([^\s:'"]+): no such file|(?:^|[\s'"‘(=])(/[^\s'"’:(]*|[^\s'"’:(]+/[^\s'"’:(]*|[^\s'"’:(]+\.[a-z]\w*)['"’)]?:? \(?(?:cannot open: )?(?:no such file|file does not exist)(?: or directory)?(?:[^,\w ]|$| \()|kind: notfound, message: "no such file|@ rb_sysopen - (.+) \(Errno::ENOENT\)|\bno such file - \[?"?([^"\]\s]+)`), nil},
		},
		casual:   true,
		yieldsTo: []ErrorKind{ErrorModuleMissing, ErrorNoGPU, ErrorOtherRoot, ErrorEarlierState},
		brief:    "file missing",
		text:     "{%s|a file} does not exist",
		advise:   func(e *KnownError, c Container) string { return e.FileAdvice(c, c.Mounts) },
	},
	{
		kind:     ErrorOtherRoot,
		patterns: []errorPattern{{"no such file", lazyregexp.New(`(?i:\bchroot: (?:failed to run command|can't execute) ['‘"]?([^\s'’":]+)['’"]?: no such file)|(?i:\bnsenter: (?:failed to execute|can't execute) ['‘"]?([^\s'’":]+)['’"]?: no such file)`), nil}},
		brief:    "not on the node",
		text:     "{%s|a command} does not exist in the file system that it changes to",
		advise:   otherRootAdvice,
	},
	{
		kind:     ErrorLibraryVersion,
		patterns: []errorPattern{{"not found (required by", lazyregexp.New("version `((?:GLIBC|GLIBCXX|CXXABI)_[^']+)' not found(?: \\(required by ([^)]+)\\))?"), nil}},
		brief:    "library too old",
		describe: func(subject string) string {
			version, program, _ := strings.Cut(subject, ":")
			return fmt.Sprintf("its %s lacks %s, which %s needs", libraryOf(version), version, cmp.Or(program, "the program"))
		},
		advise: func(e *KnownError, c Container) string {
			version, program, _ := strings.Cut(e.Subject, ":")
			return fmt.Sprintf("run %s in the image that it was built for, or in one whose %s has %s; container %s has image %s", cmp.Or(program, "the program"), libraryOf(version), version, c.Name, c.Image)
		},
	},
	{
		kind:     ErrorRuntimeVersion,
		patterns: []errorPattern{{" has been compiled by a more recent version of the java runtime (class file version | : unsupported major.minor version ", lazyregexp.New(`(\S+) has been compiled by a more recent version of the Java Runtime \(class file version (\d+)\.\d+\).* up to (\d+)|UnsupportedClassVersionError: (\S+) : Unsupported major\.minor version (\d+)`), nil}},
		brief:    "Java too old",
		describe: func(subject string) string {
			class, built, has := versionsOf(subject)
			text := fmt.Sprintf("%s needs Java %d or later", strings.ReplaceAll(class, "/", "."), major(built)-oldestClass)
			if has != "" {
				text += fmt.Sprintf(", and the container has Java %d", major(has)-oldestClass)
			}
			return text
		},
		advise: func(e *KnownError, c Container) string {
			_, built, _ := versionsOf(e.Subject)
			return fmt.Sprintf("use an image for container %s with Java %d or later, or compile the program for the Java that its image has (image %s)", c.Name, major(built)-oldestClass, c.Image)
		},
	},
	{
		kind:     ErrorClientVersion,
		patterns: []errorPattern{{"server version: ", lazyregexp.New(`\bserver version: (\d[\w.]*)[^;]*; (\w+) version: (\d[\w.]*)`), nil}},
		brief:    "client version",
		describe: func(subject string) string {
			server, program, client := versionsOf(subject)
			relation := "older"
			if major(client) > major(server) {
				relation = "newer"
			}
			return fmt.Sprintf("%s %s is %s than the server, which has version %s", program, client, relation, server)
		},
		advise: func(e *KnownError, c Container) string {
			server, program, _ := versionsOf(e.Subject)
			return fmt.Sprintf("use an image for container %s whose %s has the version of the server, %s; its image is %s", c.Name, program, server, c.Image)
		},
	},
	{
		kind: ErrorModuleMissing,
		patterns: []errorPattern{
			{"module", lazyregexp.New(`\bNo module named '?([\w.]+)|\bunknown module: ([\w./@-]*\w)|Module not found "([^"]+)"|The module (\w[\w.]*) was not found`), nil}, // Python, k6, Celery
			{"shared", lazyregexp.New(`([^\s:"]+): cannot open shared object file|Error loading shared library ([^\s:]+)`), nil},
			{"cannot ", lazyregexp.New(`Cannot find (?:module|package) '([^']+)'|cannot load such file -- (\S+)`), nil},
			{"class", lazyregexp.New(`\bClass ["']([\w\\]+)["'] not found|Could not find or load main class (\S+)|Failed to load class ([\w.$]+\w)|\bClassNotFoundException: (?:Class |Failed to find data source: )?([^\s:]+?)\.?(?:\s|$)|\bNoClassDefFoundError: ([\w/$]+)$`), nil},
			{"could not ", lazyregexp.New(`Could not (?:load file or assembly '([^',]+)|find (?:gem ['"]([^'"]+)['"]|'(bundler)' |(\S+-\d[\w.]*)(?:, \S+)* in (?:any|locally)))`), nil},
			{"there is no package called | in @inc|open lib '|load plugin: |missing optional dependency '|cannotresolveclassexception: |' required to execute|', version '", lazyregexp.New(`there is no package called [‘']([^’']+)|Can't (?:locate (\S+) in @INC|open lib '([^']+)'|load plugin: (\S+))|Missing optional dependency '([^']+)'|CannotResolveClassException: ([\w.$]+)|The library '([^']+)' required to execute|[Ff]ramework:? '([\w.]+)', version '([\d.]+)'`), nil}, // R, Perl, ODBC, SQLAlchemy, Pandas, JMeter, .NET
		},
		casual:   true,
		yieldsTo: []ErrorKind{ErrorNoGPU, ErrorLibraryVersion},
		read: func(e *KnownError, _ string) {
			if slashed := strings.ReplaceAll(e.Subject, "/", "."); ofJava.MatchString(slashed) {
				e.Subject = slashed
			}
		},
		brief: "module missing",
		text:  "it cannot load {%s,|a module,} which its image lacks",
		advise: func(e *KnownError, c Container) string {
			if strings.HasPrefix(e.Subject, "./") || strings.HasPrefix(e.Subject, "/") {
				return e.FileAdvice(c, c.Mounts)
			}
			what, where := "the module", ""
			if strings.Contains(strings.Join(c.Arguments, " ")+c.Image, "python") {
				where = " (PYTHONPATH, and workingDir for its own)"
			}
			if ofJava.MatchString(e.Subject) {
				what = "the jar with class"
				if strings.Contains(e.Subject, ".hadoop.fs.") {
					what = "the jar (hadoop-aws for s3a, gcs-connector for gs, hadoop-azure for abfs, in the version of its Hadoop) with class"
				}
			} else if strings.Contains(e.Subject, ".so") {
				what = "the library"
			}
			return fmt.Sprintf("use an image of container %s that has %s%s, or correct where the program looks for it%s; the image is %s", c.Name, what, spaced(e.Subject), where, c.Image)
		},
	},
}

// ofJava matches the name of a class of Java with its package.
var ofJava = lazyregexp.New(`^[a-z]\w*(?:\.[a-z]\w*)+\.[A-Z][\w$]*$`)

// oldestClass is the difference between the version of a class file and that of Java.
const oldestClass = 44

func versionsOf(subject string) (server, program, client string) {
	server, client, _ = strings.Cut(subject, ":")
	program, client, _ = strings.Cut(client, ":")
	return server, program, client
}

// major returns the first number of a version.
func major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// libraryOf returns the library that has a version: libc, or the one of C++.
func libraryOf(version string) string {
	if strings.HasPrefix(version, "GLIBC_") {
		return "libc"
	}
	return "libstdc++"
}

// inBin matches paths of programs.
var inBin = lazyregexp.New(`^/(?:[\w.+-]+/)*s?bin/[^/]+$`)

// FileAdvice returns advice on a missing file, or on a pattern that matches no file, in a container with these mounts.
func (e *KnownError) FileAdvice(c Container, mounts []Mount) string {
	what := "lacks " + e.Subject
	if strings.Contains(e.Subject, "*") {
		what = "has nothing that matches " + e.Subject
	}
	how, _ := injection(&c, e.Subject)
	switch in := mountOf(e.Subject, mounts); {
	case strings.HasPrefix(e.Subject, tokenDir):
		return c.tokenAdvice()
	case in == nil && how != "":
		return how
	case in == nil && len(c.Beside) > 0 && shared.MatchString(e.Subject):
		return fmt.Sprintf("mount one volume, such as an emptyDir, at %s in container %s and in the one that writes the file (%s): containers of a pod share no other files", path.Dir(e.Subject), c.Name, wording.Enumerate(c.Beside, "or"))
	case in != nil && in.Kind == "emptyDir" && len(in.Earlier) > 0:
		return fmt.Sprintf("check whether init container %s writes into %s: it is empty or %s", wording.Enumerate(in.Earlier, "or"), in.place(c), what)
	case in != nil && in.Kind == "emptyDir":
		return fmt.Sprintf("find out what should write into %s: it is empty or %s", in.place(c), what)
	case in != nil:
		return fmt.Sprintf("check %s: it is empty or %s", in.place(c), what)
	case inBin.MatchString(e.Subject):
		return fmt.Sprintf("use an image for container %s that has %s, such as a newer one, or correct the path; its image is %s", c.Name, e.Subject, c.Image)
	case e.Subject != "" && !strings.HasPrefix(e.Subject, "/"):
		return e.relativeAdvice(&c)
	}
	return fmt.Sprintf("check the path%s: whether a volume is mounted there in container %s, or whether its image has the file (image %s)", spaced(e.Subject), c.Name, c.Image)
}

// relativeAdvice returns advice on a missing file whose path starts at the folder where the program runs.
func (e *KnownError) relativeAdvice(c *Container) string {
	if c.fixedMounts() != "" {
		return fmt.Sprintf("have the program look for %s where it is, as it does so in its working directory: it may be meant to come from %s", e.Subject, c.fixedMounts())
	}
	ifProgram := ""
	if !strings.ContainsAny(e.Subject, "./ ") && e.Subject == strings.ToLower(e.Subject) {
		ifProgram = "if that is a program, use an image that has it; otherwise, "
	}
	return ifProgram + fmt.Sprintf("give the whole path of %s in command or args of container %s, set its workingDir, or mount the file there: the program looks for it in the folder where it starts, in image %s", wording.Shorten(e.Subject, maxDetail), c.Name, c.Image)
}

// spaceText describes a disk that is full by the file that it lacks room for, or by what failed because of that.
func spaceText(subject string) string {
	const text = "no space left on device"
	if strings.Contains(subject, " ") {
		return text + wording.InBrackets(subject)
	}
	return wording.Join(" for ", text, subject)
}

// spaceAdvice names the volume that is full: that of the file, or the only one that the container can write to.
func spaceAdvice(e *KnownError, c Container) string {
	const advice = "give %s more space, or write less to it"
	if strings.HasPrefix(e.Subject, "/") {
		return fmt.Sprintf(advice, cmp.Or(mountOf(e.Subject, c.Mounts).place(c), "the disk that has "+wording.Shorten(e.Subject, maxDetail)))
	}
	writable := slices.DeleteFunc(slices.Clone(c.Mounts), func(m Mount) bool { return m.ReadOnly })
	switch {
	case len(writable) > 1:
		return fmt.Sprintf(advice, "the volume or disk that is full")
	case len(writable) == 0 && c.SharedMemory:
		return fmt.Sprintf(advice, "the disk of the node, where the container writes, as it has no other volume,")
	case len(writable) == 0:
		return "mount an emptyDir with medium Memory at /dev/shm, which has 64Mi otherwise, if the program shares memory there; or free space on the disk of the node, as the container has no volume to write to"
	}
	which := "probably " + writable[0].place(c)
	if !c.ReadOnlyRoot {
		which = writable[0].place(c) + ", or the disk of the node"
	}
	return "find out which disk is full, " + which + ", and " + fmt.Sprintf(advice, "it")
}

// spaced returns a name with a space before it, "" without a name.
func spaced(name string) string { return prefixed(" ", wording.Shorten(name, maxDetail)) }

// ofProgram matches files that belong to a program: a volume in their place would hide it.
var ofProgram = lazyregexp.New(`^/(?:usr|bin|sbin|lib\d*)/|/(?:site-packages|dist-packages|node_modules|gems|vendor|lib|bin)/`)

// volumeAccess returns advice on a volume that the user of the container may not use.
func volumeAccess(in *Mount, user string, c Container) string {
	switch {
	case in.Private && c.FSGroup == "" && c.User != "" && c.User != "0":
		return fmt.Sprintf("set fsGroup in the securityContext of the pod, whose user%s may then read %s, or a defaultMode that lets all read it (0444): its files belong to root, and no other user may read them", user, in.place(c))
	case in.isFixed():
		return fmt.Sprintf("check defaultMode of %s: it decides who may read and execute its files, which cannot be written", in.place(c))
	case in.Directory != "":
		return fmt.Sprintf("give the user of the container%s access to %s on the node (chown, chmod), which is mounted at %s, or run it as the owner of that: fsGroup has no effect there", user, in.Directory, in.Path)
	}
	how, fsGroup := "by the owner or mode of its files (chown, chmod), or by runAsUser as their owner", "fsGroup has no effect there"
	switch {
	case in.Kind == "nfs":
	case in.IsBucket:
		return bucketAdvice(in, c)
	case c.FSGroup != "":
		fsGroup = "fsGroup " + c.FSGroup + " is set, and is not enough"
	default:
		how, fsGroup = "", "fsGroup, or runAsUser as the owner of its files"
	}
	return fmt.Sprintf("give the user of the container%s access to %s: %s", user, wording.Join(" ", in.place(c), how), fsGroup)
}

// accessAdvice returns advice on a file that the user of the container may not use, by the volume that has it.
func accessAdvice(e *KnownError, c Container) string {
	in, file, user := mountOf(e.Subject, c.Mounts), wording.Shorten(e.Subject, maxDetail), c.userText()
	switch {
	case e.Subject == "":
		return "give the container's user" + user + " access to the file: check runAsUser, and fsGroup for volumes"
	case !strings.HasPrefix(e.Subject, "/"):
		return fmt.Sprintf("give the user of container %s%s access to %s, which is below its working directory: check runAsUser and workingDir, and fsGroup if a volume is there", c.Name, user, file)
	case in != nil:
		return volumeAccess(in, user, c)
	case strings.HasPrefix(e.Subject, "/."):
		return fmt.Sprintf("set variable HOME of container %s to a folder that its user%s may write, such as %s: as that user has no home, the program uses %s", c.Name, user, scratchOf(&c), file)
	case strings.HasPrefix(e.Subject, "/root/."):
		return fmt.Sprintf("set variable HOME of container %s to a folder of its user%s, such as %s: the program looks for %s in the home of root, which no other user may enter", c.Name, user, scratchOf(&c), file)
	case ofRuntime.MatchString(e.Subject):
		return fmt.Sprintf("run container %s as a user who may use %s%s, or have its program leave that alone: kubelet and runtime make it for each container, and no volume can take its place", c.Name, file, user)
	case ofProgram.MatchString(e.Subject) && !strings.HasPrefix(e.Subject, "/var/lib/"):
		return fmt.Sprintf("run container %s as a user who may use %s, which is in its image%s, or use an image whose program does not need that; it is %s", c.Name, file, user, c.Image)
	}
	dir, limit := e.Subject, ""
	if path.Ext(dir) != "" {
		dir = path.Dir(dir)
		limit = hiding(&c, dir)
	}
	empty := "mount an emptyDir at " + wording.Shorten(dir, maxDetail) + limit
	if dir == "/" {
		empty = "have it use a file in an emptyDir"
	}
	return fmt.Sprintf("give the user of container %s%s access to %s, which is in no volume of the template: run it as another user, or %s if it only has to write", c.Name, user, file, empty)
}

// shared matches files that containers of a pod may exchange.
var shared = lazyregexp.New(`^/(?:var/(?:log|tmp|katib\w*|data|shared)|tmp|data|mnt|srv|work\w*|shared|out\w*|logs?)/`)

// ofData matches folders that have no programs, and folder the names of such folders at the end of a path.
var ofData = lazyregexp.New(`^/(?:tmp|var|run|home|root|mnt|data|srv|dev)(?:/|$)|/\.?(?:cache|logs?|te?mp|data|work|out(?:put)?|uploads?)(?:/|$)`)

var folder = lazyregexp.New(`/(?:\.\w+|[a-z_]*(?:cache|logs?|te?mp|data|work|out|output|target|uploads?|storage))$`)

// hiding limits advice to mount a volume at a folder, which may have a program of the image.
func hiding(c *Container, dir string) string {
	if ofData.MatchString(dir) {
		return ""
	}
	return " (if that hides nothing of image " + c.Image + ")"
}

// ownershipAdvice returns advice on a file whose owner cannot be changed, by the volume that has it.
func ownershipAdvice(e *KnownError, c Container) string {
	const leave = "leave out the change of owners (chown; cp -a and -p, rsync -a, -o and -g copy them)"
	switch in := mountOf(e.Subject, c.Mounts); {
	case in == nil:
	case in.IsBucket:
		return bucketAdvice(in, c)
	case in.Kind == "nfs":
		return fmt.Sprintf("%s: the NFS server of %s, lets nobody change them, as with root_squash (no_root_squash in its export lets root); fsGroup has no effect there", leave, in.place(c))
	}
	return fmt.Sprintf("%s, as fsGroup sets the group of a volume; or run container %s as root with capability CHOWN, which NFS with root_squash does not accept", leave, c.Name)
}

// bucketAdvice returns advice on a file in a bucket or share whose owner or mode does not fit.
func bucketAdvice(in *Mount, c Container) string {
	return fmt.Sprintf("leave out chmod and chown, or use another kind of volume: a file of %s, has no owner or mode of its own; its mountOptions set them for all (uid, gid, and the modes)", in.place(c))
}

// otherRootAdvice returns advice on a command that is sought in another file system: that of the node, if the container has only one
// hostPath.
func otherRootAdvice(e *KnownError, c Container) string {
	what := cmp.Or(wording.Shorten(e.Subject, maxDetail), "the command")
	node := slices.DeleteFunc(slices.Clone(c.Mounts), func(m Mount) bool { return m.Directory == "" })
	if len(node) != 1 {
		return fmt.Sprintf("check whether the file system that container %s changes to has %s: its image does not matter", c.Name, what)
	}
	return fmt.Sprintf("check whether the node has %s: container %s looks for it in hostPath %s, which is mounted at %s, not in its image; run a command that this kind of node has", what, c.Name, node[0].Directory, node[0].Path)
}

// writableAdvice returns advice on a directory that is read-only.
func writableAdvice(e *KnownError, c Container) string {
	in := mountOf(e.Subject, c.Mounts)
	where := "where it writes, such as /tmp"
	switch {
	case in != nil && in.isFixed():
		return fmt.Sprintf("have the program change nothing in %s: set the mode of its files with defaultMode, or copy them into an emptyDir", in.place(c))
	case in != nil && in.ReadOnly:
		return fmt.Sprintf("mount %s in container %s without readOnly, or have the program write elsewhere", in.name(), c.Name)
	case in != nil:
		return fmt.Sprintf("check %s: its file system is read-only, for example after an error of its disk", in.place(c))
	case ofSystem.MatchString(e.Subject):
		return fmt.Sprintf("have the program write elsewhere than to %s, or mount a volume there with subPath, as one at the folder would hide what image %s has there: that file system is read-only in container %s", wording.Shorten(e.Subject, maxDetail), c.Image, c.Name)
	case strings.HasPrefix(e.Subject, "/."):
		return accessAdvice(e, c)
	case path.Dir(e.Subject) == "/" && e.Subject != "/" && path.Ext(e.Subject) == "", folder.MatchString(e.Subject):
		where = "at " + e.Subject + hiding(&c, e.Subject)
	case strings.Count(e.Subject, "/") > 1:
		where = "at " + path.Dir(e.Subject) + hiding(&c, path.Dir(e.Subject))
	}
	if c.ReadOnlyRoot {
		return fmt.Sprintf("mount a volume such as an emptyDir %s: container %s has readOnlyRootFilesystem", where, c.Name)
	}
	return fmt.Sprintf("mount a writable volume such as an emptyDir %s: that file system is read-only in container %s", where, c.Name)
}
