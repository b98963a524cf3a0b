# SPDX-License-Identifier: GPL-2.0-only
"""What messages advise to type: finds it in a line, and in the sources.

  advice.py pick XPCACHE LINE N [WORD]    the N-th of the file LINE, as it stands there: "KIND START END TEXT",
                                          with WORD, quoted, in place of DEV or NAME
  advice.py guard XPCACHE ROOT WALKED LIST    messages whose advice is neither in WALKED (lines of "START END LINE")
                                          nor in LIST ("SNIPPET | WHY"), and what LIST has for nothing

An advice is a command, `xpcache VERB [ARGUMENT] [OPTION]...` or one of OTHERS, or options alone, which are for
the command that was refused. It ends where the verb's own help says that nothing more can belong to it.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

OTHERS = {"blockdev": 2, "swapoff": 1, "dmsetup": 2, "modprobe": 1, "lsblk": 0}     # and so many words
WORD = re.compile(r"(?:'[^']*'|\\.|[^\s'\\])+")
# Of other verbs than create, start, flush, remove, check and stop; their tests are elsewhere.
NOT_OURS = re.compile(r"(?:lib|tools|boot)/(?:[a-z]+/)?(adopt|asleep|awake|begun|bench\w*|start_boot|bootloader|fs_age|fstab|histogram|images?|initramfs|json|latency\w*"
                      r"|live|needed|next_boot|partitions|partitions_verb|pulse\w*|restore|sleep|sleep_note|status|timing|top)\.c|daemon/watch/\w+\.c")


class Tool:
    """The verbs, and which of their options take a value."""

    def __init__(self, program, known="verbs.json"):
        if os.path.exists(known):
            self.verbs, self.valued = json.load(open(known))
            return

        def says(*words):
            return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
        self.verbs = {v: not usage.startswith(("-", "[-")) and usage != ""
                      for v, usage in re.findall(r"^  xpcache (\w+) *(.*)$", says("help"), re.M)}
        self.valued = {o for v in ("create", "start", "flush", "check", "stop", "remove", "histogram")
                       for o in re.findall(r"^  (--[a-z-]+) \S", says(v, "--help"), re.M)}
        with open(known, "w") as f:
            json.dump([self.verbs, list(self.valued)], f)


def words_from(text, at):
    """(start, end, word) of each, without what ends a clause."""
    for m in WORD.finditer(text, at):
        bare = m.group().rstrip(",;:)")
        yield m.start(), m.start() + len(bare), bare
        if bare != m.group():
            return


def command_end(tool, text, at):
    """Where the command that begins at @at ends; None: there is none."""
    words = list(words_from(text, at))
    if words and words[0][2] in OTHERS and len(words) > OTHERS[words[0][2]]:
        return words[OTHERS[words[0][2]]][1]
    if len(words) > 1 and words[0][2] in ("xpcached", "xpcache"):
        verb, i = words[1][2], 2
        more = len(words) > 2 and words[2][2].startswith("--")
        if words[0][2] == "xpcached" and verb not in ("serve", "--help"):
            return None
        if verb in ("help", "serve", "--help"):
            return words[2][1] if more else words[1][1]
        if verb not in tool.verbs and not (verb == "%s" and more):
            return None
        if (tool.verbs.get(verb, True)) and i < len(words) and not words[i][2].startswith("--"):
            i += 1
        if verb == "start" and i < len(words) and words[i][2] == "%s":
            i += 1
    elif words and words[0][2].startswith("--"):
        i = 0
    else:
        return None
    return options_end(tool, words, i)


def options_end(tool, words, i):
    while i < len(words) and re.fullmatch(r"--[a-z-]+|%s", words[i][2]) and (words[i][2] != "%s" or words[i - 1][2] != "%s"):
        i += 2 if words[i][2] in tool.valued and i + 1 < len(words) else 1
    return words[i - 1][1]


def advices(tool, text):
    """(kind, start, end) of each."""
    found, end = [], 0
    for m in re.finditer(r"(?<![\w/.'-])(?:xpcached? |--[a-z]|(?:%s)\b)" % "|".join(OTHERS), text):
        if m.start() < end:
            continue
        stop = command_end(tool, text, m.start())
        if stop and text[m.start() - 2:m.start()] == ": " and text[stop:stop + 1] == ":":
            end = stop    # the word that was refused
        elif stop:
            found.append(("option" if m.group().startswith("--") else "command", m.start(), stop))
            end = stop
    return found


def pick(program, path, n, word=None):
    line = open(path).read().strip("\n")
    kind, start, end = advices(Tool(program), line)[int(n)]
    text = line[start:end]
    if word:
        text = re.sub(r"\b(DEV|NAME)\b", lambda m: shlex.quote(word), text)
    print(kind, start, end, text)


def literals(path):
    """Strings of a C source, those that follow one another joined; without tables of options and help."""
    text = open(path).read()
    for begin in (r"option_table\[\] = \{", r"verb_texts\[\] = \{", r"verb_table\[\] = \{", r"verbs\[\] = \{", r"\bvoid help_all", r"static (?:enum xc|void) (?:help|usage)\b",
                  r"static const struct \{[^}]*\} text\[\]"):
        text = re.sub(begin + r".*?\n\}", "", text, flags=re.S)
    text = re.sub(r"/\*.*?\*/|^#[^\n]*$", " ", text, flags=re.S | re.M)
    one = r'"(?:[^"\\]|\\.)*"'
    for m in re.finditer(one + r"(?:\s*(?:PRI\w+|XPCACHE_VERSION|" + one + "))*", text):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m.group())).replace('\\"', '"').replace("\\n", "")


def regex_of(literal, start, end):
    def part(text):
        return ".*".join(re.escape(p) for p in re.split(r"%[-+0-9.*lz]*[a-zA-Z]", text))
    return re.compile(part(literal[:start]) + "(" + part(literal[start:end]) + ")" + part(literal[end:]))


def is_walked(literal, start, end, walked):
    rx = regex_of(literal, start, end)
    return any(m.start(1) < to and at < m.end(1) for at, to, line in walked for m in rx.finditer(line))


def guard(program, root, walked_path, list_path):
    tool = Tool(program)
    walked = [(int(at), int(to), line) for at, to, line in (w.rstrip("\n").split(" ", 2) for w in open(walked_path))]
    excused = [row.split("|")[0].strip() for row in open(list_path)]
    used, ok = set(), True
    for path in sorted(path for room in ("lib", "tools", "boot", "daemon") for path in glob.glob(f"{root}/{room}/**/*.c", recursive=True)):
        name = path[len(root) + 1:]
        if NOT_OURS.fullmatch(name):
            continue
        for literal in literals(path):
            if re.fullmatch(r"--[a-z-]+|xpcached?( %s)?", literal):
                continue    # where it is, or the program's own name
            for _, start, end in advices(tool, literal):
                why = [e for e in excused if e in literal and (literal.index(e) < end and literal.index(e) + len(e) > start)]
                used.update(why)
                if not why and not is_walked(literal, start, end, walked):
                    print(f"{name}: nobody types \"{literal[start:end]}\" of \"{literal}\"")
                    ok = False
    for e in excused:
        if e not in used:
            print(f"the list has \"{e}\", and no message does")
            ok = False
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit({"pick": pick, "guard": guard}[sys.argv[1]](*sys.argv[2:]))
