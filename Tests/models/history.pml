/*
 * Positions and gaps of histories: what a client is told while the service's program ends, loses power and starts again.
 * Tests/model has spin check every interleaving, up to the bounds below.
 *
 * All values of an element have numbers on one line. Each start of the service's program begins a new life. A file of a life
 * has a mark, which reserves numbers up to `reserved`, and the life's values. The rules:
 *
 *   start    The first number of a life is one above the reserved number of the life before it that is in the files.
 *   reserve  A life's mark is synced before its first answer. No number above the reserved number of the synced mark is given.
 *   stop     A clean stop writes all values, then a mark that reserves nothing beyond the last of them, and syncs.
 *   forget   A life is known until a value of a later life is dropped.
 *   answer   It begins with the first kept value behind the position. A position is unknown if its life is unknown, its
 *            number is above the life's reserved number, or its check differs from that of the kept value with its number;
 *            a check of 0 is not compared. The answer to an unknown position begins with the oldest kept value. (Here the check
 *            never decides, for lives differ: it is for a program that runs twice in one life, as in a copied virtual machine.)
 *   gap      Unknown for an unknown position. Otherwise N = first number - position's number - 1, where the first number is the
 *            next one to be given if no value follows. N of 0 is no gap. N is exact if each life from the position's to the
 *            answer's begins with the number behind the end of the life before it; otherwise at most N values are missing.
 *   move     An answer moves the position behind its value; one without a value moves it to the end of the current life.
 *
 * What the model leaves out: a client restarts with the position that it had, so its restart is no event. An answer of several
 * values is several answers. Values may be dropped at any time, whatever limit does it.
 *
 * Within its life's reserved numbers, no rule needs that values are synced: a loss of power here takes any of them.
 *
 * Each macro of Tests/model breaks one rule, and spin must find that.
 */

#ifndef SENDS
#define SENDS 5
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef STOPS
#define STOPS 1
#endif
#ifndef RESTORES
#define RESTORES 1
#endif
/* How many numbers a mark reserves. */
#ifndef RESERVE
#define RESERVE 2
#endif
/* The lives, from 1. */
#define LIVES (1 + CRASHES + STOPS)
#define BELOW(n) ((1 << (n)) - 1)

/* The service's program. */
bool up, stopping;
byte life;
/* The next number to be given. */
byte next;

/* The files by life, as the program sees them; a `reserved` of 0 stands for no file. `first` - 1 is the last of no values. What
 * the program that runs has written of its values is open until it ends. */
byte first[LIVES + 1], last[LIVES + 1], reserved[LIVES + 1];
/* The mark that survives a loss of power for certain. */
byte syncedReserved[LIVES + 1];
/* The number of the newest value that was dropped. */
byte gone;
/* A backup of the files. */
byte savedLast[LIVES + 1], savedReserved[LIVES + 1], savedGone;
bool isSaved;

/* The client's position; life 0 before its first answer, which begins with the oldest kept value. */
byte atLife, atNumber, atCheck;

/* What is left of the bounds. */
byte sends = SENDS, crashes = CRASHES, stops = STOPS, restores = RESTORES;

/* What really happened, which nobody in the model knows. */
/* The values, by number, that were sent, except those that a restored backup took back; and those of them that were neither
 * delivered nor told as missing. */
short sent, owed;
/* The highest number that was given, and delivered. */
byte given, delivered;
/* A backup was restored, and the client has had no answer since. */
bool isRestored;

/* Within atomic steps that choose; 0 otherwise. */
byte each;
short kept;
/* Within steps without a choice: no part of a state. */
hidden byte i, begin, owner, count, missing;
hidden byte isKnown, isExact;
/* The properties; spin names the one that fails. */
hidden byte numberIsNew, valueIsOnceAndInOrder, gapIsComplete, gapIsExact, unknownGapIsNeeded, checkMatches;

#define END(l) (l == life && up -> next - 1 : last[l])
#define EXISTS(l) (reserved[l] > 0 || (l == life && up))

/* The newest life in the files, into `i`; 0 if there is none. */
inline findNewest() {
    i = LIVES;
    do
    :: i > 0 && reserved[i] == 0 -> i--
    :: else -> break
    od
}

/* The first kept value behind `begin`, into `begin` and `owner`; `next` and the current life if there is none. */
inline findValue() {
    if
    :: gone > begin -> begin = gone
    :: else
    fi;
    i = 1;
    do
    :: i <= LIVES && EXISTS(i) && END(i) >= first[i] && END(i) > begin -> break
    :: i <= LIVES && !(EXISTS(i) && END(i) >= first[i] && END(i) > begin) -> i++
    :: i > LIVES -> break
    od;
    if
    :: i > LIVES -> begin = next; owner = life
    :: else ->
        owner = i;
        begin = (begin + 1 > first[i] -> begin + 1 : first[i])
    fi
}

/* The life of the kept value with number n, as its check, into `count`; 0 if there is none. */
inline findCheck(n) {
    count = 0;
    i = 1;
    do
    :: i <= LIVES ->
        if
        :: EXISTS(i) && n > gone && n >= first[i] && n <= END(i) -> count = i
        :: else
        fi;
        i++
    :: else -> break
    od
}

/* Whether the service knows the position, into `isKnown`. */
inline findWhetherKnown() {
    isKnown = EXISTS(atLife);
#ifdef FORGET_EMPTY
    isKnown = isKnown && (atLife == life || last[atLife] >= first[atLife]);
#endif
    i = 1;
    do
    :: i <= LIVES ->
        if
#ifdef FORGET_EARLY
        :: i >= atLife && EXISTS(i) && gone >= (i == atLife -> END(i) : first[i]) && i != life -> isKnown = false
#endif
        :: i > atLife && EXISTS(i) && gone >= first[i] -> isKnown = false
        :: else
        fi;
        i++
    :: else -> break
    od;
#ifndef ANY_NUMBER
    isKnown = isKnown && atNumber <= reserved[atLife];
#endif
    findCheck(atNumber);
#ifdef ANY_LIFE
    isKnown = atLife > 0 && atNumber <= reserved[life];
#else
#ifdef COMPARE_ZERO
    isKnown = isKnown && (count == 0 || count == atCheck);
#else
    checkMatches = !isKnown || count == 0 || atCheck == 0 || count == atCheck;
    assert(checkMatches)
#endif
#endif
}

/* Whether no number was lost between the position's life and the answer's, into `isExact`. */
inline findWhetherExact() {
    isExact = true;
    count = END(atLife);
    i = atLife + 1;
    do
    :: i <= owner ->
        if
        :: EXISTS(i) ->
#ifndef ANY_BORDER
            isExact = isExact && first[i] == count + 1;
#endif
            count = END(i)
        :: else
        fi;
#ifdef FIRST_BORDER
        if
        :: EXISTS(i) -> break
        :: else
        fi;
#endif
        i++
    :: else -> break
    od
}

/* The client asks for what is behind its position. */
inline ask() {
    findWhetherKnown();
    begin = (isKnown -> atNumber : 0);
#ifdef TWICE
    begin = (begin > 0 -> begin - 1 : 0);
#endif
    findValue();
    /* Count what is owed below the answer's first value. */
    missing = 0;
    i = 1;
    do
    :: i < begin -> missing = missing + ((owed >> i) & 1); i++
    :: else -> break
    od;
    if
    :: atLife == 0 -> delivered = 0
    :: atLife > 0 && !isKnown ->
        unknownGapIsNeeded = missing > 0 || isRestored;
        assert(unknownGapIsNeeded);
        if
        :: isRestored -> delivered = 0; owed = sent
        :: else
        fi
    :: else ->
        findWhetherExact();
        count = (begin > atNumber -> begin - atNumber - 1 : 0);
#ifdef SILENT
        if
        :: begin == next -> count = 0; isExact = true
        :: else
        fi;
#endif
        gapIsComplete = count >= missing;
        assert(gapIsComplete);
        gapIsExact = !isExact || count == missing;
        assert(gapIsExact)
    fi;
    isRestored = false;
    owed = owed & ~BELOW(begin);
    if
    :: begin < next ->
        printf("  the client gets %d of life %d\n", begin, owner);
        valueIsOnceAndInOrder = begin > delivered;
        assert(valueIsOnceAndInOrder);
        delivered = begin;
        owed = owed & ~(1 << begin);
        atLife = owner;
        atNumber = begin;
        atCheck = owner
    :: else ->
        printf("  the client gets no value, and is behind %d of life %d\n", next - 1, life);
        findCheck(next - 1);
        atLife = life;
        atNumber = next - 1;
        atCheck = count
    fi
}

/* Drops any number of the oldest values, from the files too. Nobody sees it before an answer, a backup or a crash. */
inline drop() {
    d_step {
        begin = gone;
        findValue();
        do
        :: begin < next -> kept = kept | (1 << begin); findValue()
        :: else -> break
        od
    }
    do
    :: d_step { kept != 0 ->
        begin = 1;
        do
        :: (kept >> begin) & 1 -> break
        :: else -> begin++
        od;
        kept = kept & ~(1 << begin);
        gone = begin;
        printf("%d is dropped\n", gone) }
    :: break
    od;
    kept = 0
}

/* Ends the program. Of the values that it has not written for certain, any beginning is in the file. */
inline halt() {
    if
    :: up && reserved[life] > 0 ->
        drop();
        last[life] = next - 1;
        lose(life)
    :: else
    fi;
    up = false;
    stopping = false;
    next = 0
}

/* Loses any number of the last values of a life. */
inline lose(l) {
    do
    :: last[l] >= first[l] -> last[l]--
    :: break
    od
}

active proctype world() {
end:
    do
    /* The program starts. Its mark is not written yet. */
    :: d_step { !up && life < LIVES ->
        findNewest();
#ifdef AFTER_LAST
        next = last[i] + 1;
#else
        next = reserved[i] + 1;
#endif
        life++;
        up = true;
        first[life] = next;
        printf("life %d starts with %d\n", life, next) }

    /* It writes a mark. */
    :: d_step { up && !stopping && reserved[life] < next - 1 + RESERVE ->
        reserved[life] = next - 1 + RESERVE;
        printf("a mark reserves up to %d\n", reserved[life]) }

    /* The mark is synced. */
    :: d_step { up && syncedReserved[life] != reserved[life] -> syncedReserved[life] = reserved[life]; printf("synced\n") }

    /* A value is sent. */
#ifdef UNMARKED_SEND
    :: d_step { up && !stopping && sends > 0 ->
#else
#ifdef UNSYNCED_SEND
    :: d_step { up && !stopping && sends > 0 && next <= reserved[life] ->
#else
    :: d_step { up && !stopping && sends > 0 && next <= syncedReserved[life] ->
#endif
#endif
        numberIsNew = next > given;
        assert(numberIsNew);
        sends--;
        given = next;
        sent = sent | (1 << next);
        owed = owed | (1 << next);
        next++;
        printf("%d is sent\n", given) }

    /* A clean stop. A crash may come between its steps. */
    :: d_step { up && !stopping && stops > 0 ->
        stops--;
        stopping = true;
        if
        :: reserved[life] > 0 && next > 1 -> reserved[life] = next - 1
        :: else
        fi;
        printf("stops: all is written\n") }
    :: d_step { up && stopping && syncedReserved[life] == reserved[life] ->
        if
        :: reserved[life] > 0 -> last[life] = next - 1
        :: else
        fi;
        up = false;
        stopping = false;
        next = 0;
        printf("stopped\n") }

    /* The program is killed. */
    :: atomic { up && crashes > 0 ->
        crashes--;
        halt();
        printf("killed: %d to %d is left of life %d\n", first[life], last[life], life) }

    /* Power is lost, also while the program is down. Any value may be lost, as if none was synced, and dropped ones return. */
    :: atomic { crashes > 0 && life > 0 ->
        crashes--;
        halt();
        each = 1;
        do
        :: each <= life ->
            if
            :: reserved[each] != syncedReserved[each] -> reserved[each] = syncedReserved[each]
            :: syncedReserved[each] = reserved[each]
            fi;
            if
            :: reserved[each] == 0 -> last[each] = 0
            :: else -> lose(each)
            fi;
            printf("power lost: %d to %d is left of life %d\n", first[each], last[each], each);
            each++
        :: else -> break
        od;
        each = 0;
        do
        :: gone > 0 -> gone--
        :: gone == 0 || (sent >> gone) & 1 -> break
        od }

    /* Somebody backs up the files, and later puts them back. */
    :: atomic { restores > 0 && !isSaved && life > 0 ->
        drop();
        d_step {
            isSaved = true;
            i = 1;
            do
            :: i <= LIVES ->
                if
                :: reserved[i] > 0 -> savedLast[i] = END(i); savedReserved[i] = reserved[i]
                :: else
                fi;
                i++
            :: else -> break
            od;
            savedGone = gone;
            printf("backed up\n") } }
    :: atomic { restores > 0 && isSaved && !up ->
        restores--;
        isSaved = false;
        isRestored = true;
        each = 1;
        do
        :: each <= LIVES ->
            last[each] = savedLast[each];
            reserved[each] = savedReserved[each];
            syncedReserved[each] = reserved[each];
            savedLast[each] = 0;
            savedReserved[each] = 0;
            if
            :: reserved[each] > 0 -> lose(each)
            :: else
            fi;
            each++
        :: else -> break
        od;
        each = 0;
        gone = savedGone;
        savedGone = 0;
        /* What was sent with numbers that will be given again never happened. */
        d_step {
            findNewest();
            given = reserved[i];
            sent = sent & BELOW(given + 1);
            owed = owed & sent;
            printf("the backup is restored\n") } }

    /* The client asks. It has nothing to ask for at the end. */
#ifdef EARLY_ANSWER
    :: atomic { up && !(atLife == life && atNumber == next - 1) -> drop(); d_step { ask() } }
#else
    :: atomic { up && syncedReserved[life] > 0 && !(atLife == life && atNumber == next - 1) -> drop(); d_step { ask() } }
#endif
    od
}
