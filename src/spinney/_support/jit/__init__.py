"""The loader of compiled kernels: compiles them once, and keeps and runs machine code.

What it trusts is on a page of its own, ``docs/compiling.md``; ``SECURITY.md`` has the
promise. The modules, in the order of a call:

===================== ==============================================================
``compile``           what is written above a loop: ``kernel``, ``entry``
``loading_time``      whether loops are worth their loading; a clock that waits
``call_arguments``    the arguments of an entry as words, and the call itself
``code_cache``         machine code on disk, for these very sources and this machine
``trusted_folder``    folders in which nobody else can write
``compilation_record``    a record of what ``spinney compile`` has done
``translate``         Numba's steps, but for those that no loop needs
``entry_block``       what an entry does first: it reads its words
``numba_extensions``  tuples by reference, a hint to the memory
===================== ==============================================================

The last three import Numba, and are imported only to compile.
"""
