from pathlib import Path

from invertgate.inside.switch import FLAG_LOST_CHILD, Board, Switch


def board(folder: Path) -> Board:
    return Board(str(folder / "board"), files=2, slots=6)


def test_two_maps_of_one_board_see_the_same(tmp_path: Path) -> None:
    one, other = board(tmp_path), board(tmp_path)

    one.take(5)
    one.woven(1)
    one.flag(FLAG_LOST_CHILD)

    assert other.all_taken() == [5]
    assert other.is_woven(1)
    assert not other.is_woven(0)
    assert other.flagged(FLAG_LOST_CHILD)


def test_clear_keeps_what_was_known_of_the_files(tmp_path: Path) -> None:
    ours = board(tmp_path)
    ours.woven(0)
    ours.keep_files()
    ours.bare(1)
    ours.take(3)
    ours.flag(FLAG_LOST_CHILD)

    ours.clear()

    assert ours.is_woven(0)
    assert ours.all_bare() == []
    assert ours.all_taken() == []
    assert not ours.flagged(FLAG_LOST_CHILD)


def test_no_board_is_no_obstacle() -> None:
    switch = Switch()
    switch.inverted = frozenset((0,))

    assert switch.test(0, True) is False
    assert switch.body(0) is False
    assert switch.body(2) is True
    assert switch.guard(4, False) is False
